
-- From here on all these scripts are the same.
--
-- KEYS: one key for each limit that the request is counted under; in a cluster all with one hash tag.
-- ARGV: NOW, the caller's time in microseconds since 1970;
--       SLACK, how many milliseconds keys live longer than they matter, for clocks that disagree;
--       MODE: `all-or-nothing` charges all limits, or none if one refuses;
--             `sequential` leaves those charged that come before the one that refuses, and asks no further;
--             `independent` charges each that does not refuse;
--       then for each key LIMIT, WINDOW in microseconds, BURST, COST.
-- Reply: 0 denied, 1 admitted, 2 queued;
--        then microseconds: how long until a denied request would pass if nothing else came, -1 if never, or
--        how long a queued one must be held;
--        then the numbers of the keys that refused, from 1.
-- Every write sets an expiry. A key that refuses is not written.

local function number(index, least)
  local value = tonumber(ARGV[index])
  if not value or value ~= math.floor(value) or value < least or value >= 2 ^ 53 then
    return nil
  end
  return value
end

local now, slack, mode = number(1, -2 ^ 53 + 1), number(2, 0), ARGV[3]
if #ARGV ~= 3 + 4 * #KEYS then
  return redis.error_reply('ERR give NOW SLACK MODE and for each key LIMIT WINDOW BURST COST')
elseif not now or not slack then
  return redis.error_reply('ERR NOW and SLACK must be whole numbers below 2^53')
elseif mode ~= 'all-or-nothing' and mode ~= 'sequential' and mode ~= 'independent' then
  return redis.error_reply('ERR MODE must be all-or-nothing, sequential or independent')
end

local limits = {}
for i = 1, #KEYS do
  local first = 4 * i
  local limit, window = number(first, 0), number(first + 1, 1)
  local burst, cost = number(first + 2, 0), number(first + 3, 1)
  if not (limit and window and burst and cost) then
    return redis.error_reply('ERR LIMIT, WINDOW, BURST and COST must be whole numbers below 2^53')
  end
  limits[i] = { limit, window, burst, cost }
end

local reply, charges = { 1, 0 }, {}
local wait, held = 0, 0
for i, key in ipairs(KEYS) do
  local passes, span, ends, store = ask(key, now, unpack(limits[i]))
  if passes then
    held = math.max(held, span)
    charges[#charges + 1] = { store, math.max(1, math.ceil((ends - now) / 1000)) + slack }
  else
    reply[#reply + 1] = i
    if span < 0 or wait < 0 then
      wait = -1
    else
      wait = math.max(wait, span)
    end
    if mode == 'sequential' then
      break
    end
  end
end

if #reply > 2 then
  reply[1], reply[2] = 0, wait
elseif held > 0 then
  reply[1], reply[2] = 2, held
end
if reply[1] > 0 or mode ~= 'all-or-nothing' then
  for _, charge in ipairs(charges) do
    charge[1](charge[2])
  end
end
return reply
