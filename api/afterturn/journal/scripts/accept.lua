-- Take a turn into the journal, once.
-- KEYS: the stage's due set, the turn's status, the scope's pending turns, the scope's fence
-- ARGV: turn id, payload, scope (JSON), stage, state
-- Returns the turn's state: the given one, or the one that it already had.
local known = redis.call('HGET', KEYS[2], 'state')
if known then
  return known
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local generation = redis.call('GET', KEYS[4]) or '0'
-- due first: an entry that is due without a payload is dropped later, a payload that is not due would stay for ever
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('HSET', KEYS[2], 'state', ARGV[5], 'stage', ARGV[4], 'scope', ARGV[3], 'attempts', 0, 'retries', 0,
  'accepted', now, 'generation', generation, 'at:' .. ARGV[5], now)
redis.call('HSET', KEYS[3], ARGV[1], generation .. ' ' .. ARGV[2])
return ARGV[5]
