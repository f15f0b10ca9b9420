-- Sliding window counter: floor(PREVIOUS * rest of the window / WINDOW) + CURRENT + COST is at most LIMIT,
-- with the cost that passed in this window of the clock and in the one before.
--
-- State: a string "END PREVIOUS CURRENT LAST": where the current window ends, what passed in the one before
-- and in it, and the last time. A time older than that counts as the last, so a clock that goes back earns
-- nothing. Exact while (LIMIT + 1) * WINDOW and NOW + 2 * WINDOW are below 2^53: a limit of 104,000 a day, or
-- of 3,400 in 30 days, and anything up to 2,500,000 an hour.

local function ask(key, now, limit, window, burst, cost)
  if cost > limit then
    return false, -1
  end
  local at, ends, previous, current = now, nil, 0, 0
  local state = redis.call('GET', key)
  if state then
    local parts = { string.match(state, '^(%-?%d+) (%d+) (%d+) (%-?%d+)$') }
    ends, previous, current = tonumber(parts[1]), tonumber(parts[2]), tonumber(parts[3])
    at = math.max(now, tonumber(parts[4]))
  end
  if ends and at >= ends and at < ends + window then
    ends, previous, current = ends + window, current, 0
  elseif not ends or at >= ends then
    ends, previous, current = at + window - at % window, 0, 0
  end
  local spare = limit - current - cost
  if spare < 0 or previous * (ends - at) >= (spare + 1) * window then
    -- In this window, or in the next, whose previous one this is, or at the end of that.
    for _, counts in ipairs({ { previous, current }, { current, 0 }, { 0, 0 } }) do
      local room = limit - counts[2] - cost
      local rest = -1
      if room >= 0 and counts[1] == 0 then
        rest = window
      elseif room >= 0 then
        rest = math.min(math.ceil((room + 1) * window / counts[1]) - 1, window)
      end
      if rest > 0 then
        return false, ends - rest - now
      end
      ends = ends + window
    end
  end
  return true, 0, ends + window, function(life)
    local text = string.format('%.0f %.0f %.0f %.0f', ends, previous, current + cost, at)
    redis.call('SET', key, text, 'PX', life)
  end
end
