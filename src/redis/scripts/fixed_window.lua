-- Fixed window: at most LIMIT of cost in each window of the clock, counted from 1970.
--
-- State: a string "END COUNT": where the window ends, and the cost that passed in it.
-- A time older than that window counts in it, so a clock that goes back earns nothing.
-- Exact while NOW + WINDOW is below 2^53.

local function ask(key, now, limit, window, burst, cost)
  if cost > limit then
    return false, -1
  end
  local ends, count = now, 0
  local state = redis.call('GET', key)
  if state then
    local parts = { string.match(state, '^(%-?%d+) (%d+)$') }
    ends, count = tonumber(parts[1]), tonumber(parts[2])
  end
  if now >= ends then
    ends, count = now + window - now % window, 0
  end
  if count + cost > limit then
    return false, ends - now
  end
  return true, 0, ends, function(life)
    redis.call('SET', key, string.format('%.0f %.0f', ends, count + cost), 'PX', life)
  end
end
