-- GCRA: a request may come before it is due, by as much as BURST - COST units; a unit takes WINDOW / LIMIT.
-- It decides as a token bucket of BURST tokens does, waits included.
--
-- State: a string "LAST AHEAD PARTS": the last time, and how far ahead of that the next unit is due, in
-- microseconds and parts of one; with g the greatest common divisor of LIMIT and WINDOW, LIMIT / g parts are
-- a microsecond. A time older than the last counts as the last, so that a fast clock locks nobody out and a
-- clock that goes back earns nothing. Exact while BURST * LIMIT / g and NOW + 2 * BURST * WINDOW / LIMIT are
-- below 2^53. A limit of 0 admits nothing: its state would have to be kept for ever.

local queues = false
