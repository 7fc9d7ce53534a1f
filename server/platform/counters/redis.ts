import { COUNTER_DEADLINE_MS, openRedis } from '../redis.ts';
import { bucketVerdict, isKept, type Rule, type Standing, type Verdict, windowVerdict } from './decision.ts';
import type { SharedCounters } from './shared.ts';

// One script run per decision, so that any number of gateways share one exact count. The server's clock counts, not ours.
// Per rule the caller sends: limit, window in ms, burst (0 for a sliding window), what it remembers of the counter (previous and current calls and the window's
// number, or tokens, 0 and when; -1 as the last for nothing), which counts where the store has lost it, and calls that were admitted without the store. Last comes
// the time after which nothing is counted: a store that hung takes up calls that were counted elsewhere meanwhile. The answer is the time alone then, else the
// time and four values a rule: previous and current calls and the window's number, or tokens, 0 and when, after the decision, and whether the rule admits.
const SCRIPT = `
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
if now > tonumber(ARGV[#KEYS * 7 + 1]) then return { tostring(now) } end
local states, all = {}, true
for i, key in ipairs(KEYS) do
  local base = i * 7 - 7
  local limit, window, burst = tonumber(ARGV[base+1]), tonumber(ARGV[base+2]), tonumber(ARGV[base+3])
  local sa, sb, sat, owed = tonumber(ARGV[base+4]), tonumber(ARGV[base+5]), tonumber(ARGV[base+6]), tonumber(ARGV[base+7])
  local held = redis.call('HMGET', key, 'a', 'b', 'at')
  local a, b, at, ok = tonumber(held[1]), tonumber(held[2]), tonumber(held[3]), false
  if sat >= 0 and burst > 0 and sat - now <= 1000 then
    local function filled(tokens, since) return math.min(burst, tokens + math.max(0, now - since) * limit / window) end
    if a == nil or filled(sa, sat) < filled(a, at) then a, at = sa, sat end
  elseif sat >= 0 and burst == 0 and math.abs(math.floor(now / window) - sat) <= 1 then
    if at == nil or at < sat then a, b, at = sa, sb, sat
    elseif at == sat then a, b = math.max(a, sa), math.max(b, sb)
    elseif at == sat + 1 then a = math.max(a, sb) end
  end
  if burst > 0 then
    if a == nil then a, at = burst, now end
    if now > at then a = math.min(burst, a + (now - at) * limit / window) end
    if now > at or at - now > 1000 then at = now end
    b = 0
    a = math.max(0, a - owed)
    ok = a >= 1 - 1e-9
  else
    local index = math.floor(now / window)
    if at == nil or math.abs(index - at) > 1 then a, b, at = 0, 0, index
    elseif index == at + 1 then a, b, at = b, 0, index end
    b = b + owed
    local elapsed = math.min(math.max(now - at * window, 0), window)
    ok = math.floor(a * (window - elapsed) / window) + b < limit
  end
  states[i] = { a, b, at, ok, burst > 0, limit, window, burst }
  if not ok then all = false end
end
local out = { tostring(now) }
for i, s in ipairs(states) do
  if all then if s[5] then s[1] = s[1] - 1 else s[2] = s[2] + 1 end end
  local ttl = s[7] * 2
  if s[5] then ttl = math.ceil((s[8] - s[1]) * s[7] / s[6]) + 1000 end
  redis.call('HSET', KEYS[i], 'a', tostring(s[1]), 'b', tostring(s[2]), 'at', tostring(s[3]))
  redis.call('PEXPIRE', KEYS[i], ttl)
  out[#out + 1] = tostring(s[1]); out[#out + 1] = tostring(s[2]); out[#out + 1] = tostring(s[3]); out[#out + 1] = s[4] and '1' or '0'
end
return out`;

/** Counters in Redis or Valkey. Rejects when the store does not answer in time: the caller counts locally then. `onCounted` hears of what lasts long. */
export async function redisCounters(
  url: string,
  onError: (error: Error) => void,
  onCounted?: (rule: Rule, standing: Standing) => void,
): Promise<SharedCounters> {
  const redis = await openRedis(url, onError);
  redis.defineCommand('takeRate', { lua: SCRIPT });
  const takeRate = Reflect.get(redis, 'takeRate') as (count: number, ...rest: (string | number)[]) => Promise<string[]>; // what defineCommand adds has no type

  let clock: number | undefined;
  /** The store's clock when whoever asks has given up, and as much again for what the estimate may lack: it lies behind by the time that answers take. */
  const deadline = () => (clock === undefined ? Number.MAX_SAFE_INTEGER : Math.ceil(performance.now() + clock) + 2 * COUNTER_DEADLINE_MS);

  return {
    async take(rules, missed) {
      const { seeds, owed } = missed ?? {};
      const keys = rules.map((rule) => `sallyport:rate:${rule.key}`);
      const numbers = rules.flatMap((rule, i) => {
        const seed = seeds?.[i]?.windowMs === rule.windowMs && seeds[i]?.isBucket === (rule.burst !== null) ? seeds[i] : undefined;
        return [rule.limit, rule.windowMs, rule.burst ?? 0, seed?.a ?? 0, seed?.b ?? 0, seed?.at ?? -1, owed?.[i] ?? 0];
      });
      const answer = await takeRate.call(redis, rules.length, ...keys, ...numbers, deadline());
      const now = Number(answer[0]);
      const late = answer.length === 1;
      const seen = now - performance.now();
      clock = late || clock === undefined ? seen : Math.max(clock, seen);
      if (late) throw new Error('the counter store took up a call too late, and did not count it');
      for (const [i, rule] of rules.entries())
        if (onCounted && isKept(rule)) {
          const [a, b, at] = answer.slice(1 + i * 4, 4 + i * 4).map(Number) as [number, number, number];
          onCounted(rule, { windowMs: rule.windowMs, isBucket: rule.burst !== null, a, b, at });
        }
      return rules.map((rule, i) => verdictOf(rule, now, answer.slice(1 + i * 4, 5 + i * 4)));
    },
    ask: () => redis.ping(),
    close: () => redis.disconnect(),
  };
}

function verdictOf(rule: Rule, now: number, [a, b, at, ok]: string[]): Verdict {
  const admitted = ok === '1';
  if (rule.burst !== null) return bucketVerdict(rule, now, { tokens: Number(a), at: Number(at) }, admitted);
  return windowVerdict(rule, now, { index: Number(at), previous: Number(a), current: Number(b) }, admitted);
}
