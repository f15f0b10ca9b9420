-- Sliding window log: at most LIMIT of cost in any (t - WINDOW, t].
--
-- State: a sorted set with one entry a request, whatever its cost. The score is the time, the member
-- the cost that passed up to and with it, counted from 10^15 so that all members have 16 digits: they are
-- unique without any random part, and those of one time stand in the order in which they came. What
-- passed in the window is the difference of two members; the newest that has left the window is kept for
-- that. A time older than the newest counts as the newest, so a clock that goes back earns nothing.
-- Exact while NOW + WINDOW is below 2^53, and 8 * 10^15 of cost may pass before a key must have expired once.

local NOTHING = 1e15

local function ask(key, now, limit, window, burst, cost)
  if cost > limit then
    return false, -1
  end
  local at, total, left = now, NOTHING, NOTHING
  local newest = redis.call('ZRANGE', key, -1, -1, 'WITHSCORES')
  if newest[1] then
    at = math.max(now, tonumber(newest[2]))
    total = tonumber(newest[1])
    local gone = redis.call('ZREVRANGEBYSCORE', key, at - window, '-inf', 'LIMIT', 0, 1)
    left = tonumber(gone[1] or redis.call('ZRANGE', key, 0, 0)[1])
  end
  if total - left + cost > limit then
    -- The first entry that makes enough room by leaving.
    local low, high = 0, redis.call('ZCARD', key) - 1
    while low < high do
      local middle = math.floor((low + high) / 2)
      local member = redis.call('ZRANGE', key, middle, middle)[1]
      if tonumber(member) >= total + cost - limit then
        high = middle
      else
        low = middle + 1
      end
    end
    local leaves = redis.call('ZRANGE', key, low, low, 'WITHSCORES')[2]
    return false, tonumber(leaves) + window - now
  end
  return true, 0, at + window, function(life)
    if newest[1] then
      local gone = redis.call('ZCOUNT', key, '-inf', at - window)
      if gone > 1 then
        redis.call('ZREMRANGEBYRANK', key, 0, gone - 2)
      end
    else
      redis.call('ZADD', key, at - window, string.format('%.0f', NOTHING))
    end
    redis.call('ZADD', key, at, string.format('%.0f', total + cost))
    redis.call('PEXPIRE', key, life)
  end
end
