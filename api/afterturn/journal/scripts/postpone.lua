-- Let go of a turn, to be taken again after a wait.
-- KEYS: the stage's due set, the turn's status
-- ARGV: turn id, token, wait in ms, error, state, 1 if the failure may pass (the start is not counted), else 0
-- Returns 1, or 0 if the lease had ended and somebody else holds the turn.
if redis.call('HGET', KEYS[2], 'token') ~= ARGV[2] then
  return 0
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], now + ARGV[3], ARGV[1])
redis.call('HSET', KEYS[2], 'state', ARGV[5], 'token', '', 'error', ARGV[4])
if ARGV[6] == '1' then
  redis.call('HINCRBY', KEYS[2], 'retries', 1)
  redis.call('HINCRBY', KEYS[2], 'attempts', -1)
end
return 1
