import type { ApiField, ApiOperation } from '#components/explorer/document.ts';
import { pathOf } from '#components/explorer/draft.ts';
import type { Answer, Sent } from '#components/explorer/send.ts';
import type { Command } from './commands.ts';
import type { CallReading, TypedCall } from './parse-call.ts';

/** A line that is a call. */
export type Call = Extract<CallReading, { kind: 'call' }>;

/** What a call needs from outside: the lists names are found in, the person, and the way to the service. */
export type Steps = {
  withIds: (command: Command, call: TypedCall) => Promise<TypedCall>;
  /** A secret, typed unseen; undefined when they would rather not. `dropped`: it stood on the line. */
  secret: (field: ApiField, dropped: boolean) => Promise<string | undefined>;
  confirm: (op: ApiOperation, path: string) => Promise<boolean>;
  send: (call: Sent) => Promise<Answer>;
};

/** The call was stopped by the person; `sent`: the service may have it. */
export class Stopped extends Error {
  readonly sent: boolean;
  constructor(sent: boolean) {
    super('stopped');
    this.name = 'Stopped';
    this.sent = sent;
  }
}

/**
 * A call, step by step: names, secrets, a yes for a change in Live, and off it goes. Undefined when the person said no on the way. Stopped in
 * between, it asks nothing more and is never sent. @throws Stopped, LineProblem, and what the steps throw
 */
export async function carryOut(call: Call, space: 'live' | 'test', steps: Steps, signal: AbortSignal): Promise<Answer | undefined> {
  const { command, ask, dropped } = call;
  const { op } = command;
  let sent = false;
  const stopped = new Promise<never>((_, reject) => {
    if (signal.aborted) reject(new Stopped(sent));
    signal.addEventListener('abort', () => reject(new Stopped(sent)), { once: true });
  });
  const unlessStopped = <T>(step: Promise<T>): Promise<T> => Promise.race([stopped, step]);

  const { path, query, headers, body } = await unlessStopped(steps.withIds(command, call.call));
  const whole = body && { ...body };
  for (const field of ask) {
    const value = await unlessStopped(steps.secret(field, dropped.includes(field.name)));
    if (value === undefined) return undefined;
    if (value !== '' && whole) whole[field.name] = value;
  }
  const address = pathOf(op, path);
  const isChange = space === 'live' && op.method !== 'GET';
  if (isChange && !(await unlessStopped(steps.confirm(op, address)))) return undefined;
  sent = true;
  return unlessStopped(steps.send({ op, path: address, query, headers, body: whole, confirmed: isChange, signal }));
}
