import { isRecord } from '../definition.shared.ts';
import { asNumber } from '../expressions/filters.shared.ts';
import { doubleOf } from '../expressions/numbers.shared.ts';
import { evaluated, evaluatedText, InvalidConfig, type NodeKind, succeeded } from './node-call.ts';

/** What whoever called the webhook gets: {status, headers, body}. The engine notes which run said it. */
export const setResponse: NodeKind = (call) => {
  const { status = 200, headers = {}, body = null } = call.config;
  const code = doubleOf(asNumber(evaluated(call, status)));
  if (code === undefined || !Number.isInteger(code) || code < 200 || code > 599)
    throw new InvalidConfig('status must be a number from 200 to 599');
  const named = isRecord(headers) ? Object.entries(headers).map(([name, value]) => [name, evaluatedText(call, value, true)]) : [];
  return succeeded({}, ['out'], { input: { status: code, headers: Object.fromEntries(named), body: evaluated(call, body) } });
};
