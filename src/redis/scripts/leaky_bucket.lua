-- Leaky bucket as a queue: requests leave it one unit of cost each WINDOW / LIMIT, the first of an idle queue
-- after one such span; a request passes if the queue, which holds BURST, has room for it. The reply says how
-- long it must be held before it goes on: the caller does that.
--
-- State: a string "LAST AHEAD PARTS": the last time, and how far ahead of that the queue is empty, in
-- microseconds and parts of one; with g the greatest common divisor of LIMIT and WINDOW, LIMIT / g parts are
-- a microsecond. A time older than the last counts as the last, so a clock that goes back earns nothing.
-- Exact while BURST * LIMIT / g and NOW + 2 * BURST * WINDOW / LIMIT are below 2^53. A limit of 0 admits
-- nothing, since nothing would ever leave.

local queues = true
