
local function ask(key, now, limit, window, burst, cost)
  if cost > burst or limit == 0 then
    return false, -1
  end
  local common, rest = window, limit
  while rest > 0 do
    common, rest = rest, common % rest
  end
  -- A unit takes `whole` microseconds and `over` parts.
  local parts = limit / common
  local over = (window / common) % parts
  local whole = (window / common - over) / parts

  -- `units` units after `time` and `part`.
  local function after(time, part, units)
    local all = part + units * over
    return time + units * whole + math.floor(all / parts), all % parts
  end

  local at, due, part = now, now, 0
  local state = redis.call('GET', key)
  if state then
    local stored = { string.match(state, '^(%-?%d+) (%d+) (%d+)$') }
    local last = tonumber(stored[1])
    at = math.max(now, last)
    due, part = last + tonumber(stored[2]), tonumber(stored[3])
    if due < at then
      due, part = at, 0
    elseif part >= parts then
      -- Stored under another limit.
      due, part = due + 1, 0
    end
  end
  due, part = after(due, part, cost)
  local most, most_part = after(at, 0, burst)
  if due > most or (due == most and part > most_part) then
    -- Until what is due then is no further ahead than may be.
    local wait = due - most
    if part > most_part then
      wait = wait + 1
    end
    return false, at + wait - now
  end
  local ends = part > 0 and due + 1 or due
  return true, queues and ends - now or 0, ends, function(life)
    redis.call('SET', key, string.format('%.0f %.0f %.0f', at, due - at, part), 'PX', life)
  end
end
