-- Take turns that wait, the caller's own first, and hold them until a lease ends.
-- KEYS: the due sets of the stages, most urgent first
-- ARGV: prefix of the turns' statuses, own turn id or '', most turns to take, lease in ms, token, task id,
--       attempts from which a turn is taken alone, then stage and state for each of KEYS
-- Returns the claims as {turn id, stage, attempts, retries, accepted, scope, generation}.
local prefix, own, limit, lease = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local token, task, alone = ARGV[5], ARGV[6], tonumber(ARGV[7])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local claims = {}
local full = false

local function take(number, id)
  local turn, stage, state = prefix .. id, ARGV[6 + 2 * number], ARGV[7 + 2 * number]
  local about = redis.call('HMGET', turn, 'retries', 'accepted', 'scope', 'generation')
  if not about[3] then
    -- nothing is known of it (evicted, deleted by hand): it would be taken again and again for nothing
    redis.call('ZREM', KEYS[number], id)
    return
  end
  local attempts = tonumber(redis.call('HGET', turn, 'attempts') or '0')
  -- a turn that was started before without an outcome may be what killed the worker: no other shares its fate
  if attempts >= alone then
    if #claims > 0 then
      return
    end
    full = true
  end
  redis.call('HINCRBY', turn, 'attempts', 1)
  redis.call('HSET', turn, 'token', token, 'task', task, 'state', state)
  redis.call('HSETNX', turn, 'at:' .. state, now)
  redis.call('ZADD', KEYS[number], now + lease, id)
  claims[#claims + 1] = {id, stage, attempts + 1, tonumber(about[1] or '0'), tonumber(about[2] or '0'), about[3],
    tonumber(about[4] or '0')}
end

if own ~= '' then
  for number, key in ipairs(KEYS) do
    local due = redis.call('ZSCORE', key, own)
    if due and tonumber(due) <= now then
      take(number, own)
    end
  end
end
for number, key in ipairs(KEYS) do
  if full or #claims >= limit then
    break
  end
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', key, '-inf', now, 'LIMIT', 0, limit - #claims)) do
    take(number, id)
    if full then
      break
    end
  end
end
return claims
