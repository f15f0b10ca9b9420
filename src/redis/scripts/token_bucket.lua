-- Token bucket: a bucket of BURST tokens starts full and gains LIMIT of them in each WINDOW, evenly; a
-- request takes COST of them.
--
-- State: a string "LAST DEFICIT": the last time, and what the bucket lacked then. With g the greatest common
-- divisor of LIMIT and WINDOW, a token is WINDOW / g parts, of which LIMIT / g come in a microsecond; so no
-- fraction is lost however often one asks. A time older than the last counts as the last, so a clock that
-- goes back earns nothing. Exact while BURST * WINDOW / g and NOW + BURST * WINDOW / LIMIT are below 2^53.
-- A limit of 0 admits nothing: its bucket would have to be kept for ever.

local function ask(key, now, limit, window, burst, cost)
  if cost > burst or limit == 0 then
    return false, -1
  end
  local common, rest = window, limit
  while rest > 0 do
    common, rest = rest, common % rest
  end
  local token, gain = window / common, limit / common
  local at, deficit = now, 0
  local state = redis.call('GET', key)
  if state then
    local parts = { string.match(state, '^(%-?%d+) (%d+)$') }
    local last = tonumber(parts[1])
    at = math.max(now, last)
    deficit = math.max(0, tonumber(parts[2]) - (at - last) * gain)
  end
  local missing = deficit - (burst - cost) * token
  if missing > 0 then
    return false, at + math.ceil(missing / gain) - now
  end
  deficit = deficit + cost * token
  return true, 0, at + math.ceil(deficit / gain), function(life)
    redis.call('SET', key, string.format('%.0f %.0f', at, deficit), 'PX', life)
  end
end
