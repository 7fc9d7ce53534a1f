'use client';

import { useQueryClient } from '@tanstack/react-query';
import { getUntypedClient } from '@trpc/client';
import { useMemo, useRef, useState } from 'react';
import type { ApiField, ApiOperation } from '#components/explorer/document.ts';
import { forbiddenCall } from '#components/explorer/forbidden.ts';
import { useOperations, useSend } from '#components/explorer/use-explorer.ts';
import { useListedOperations } from '#components/trpc/listed-operations.ts';
import { useScope, useTRPCClient } from '#components/trpc/provider.tsx';
import { nextStepOf, refusalOf } from '#components/trpc/refusal.ts';
import { type Call, carryOut, type Steps, Stopped } from './carry-out.ts';
import { type Command, commandsOf, helpLine } from './commands.ts';
import { forgetLines, keepLine, keptLines } from './kept-lines.ts';
import { LineProblem } from './line-problem.ts';
import { type Sources, withIds } from './names.ts';
import { refusalIn, type Shown, type ShownOnceValue, takenApart } from './output.ts';
import { readLine } from './reading.ts';

export type Output =
  | { kind: 'answer'; shown: Shown; as: 'table' | 'json'; status: number; ms: number }
  | { kind: 'refused'; sent: boolean; message: string; next?: string | undefined; requestId?: string | undefined }
  | { kind: 'help'; commands: readonly Command[] }
  | { kind: 'note'; text: string }
  | { kind: 'lines'; lines: readonly string[] };
/** A line and what came of it; without output it is still being carried out. */
export type Entry = { key: number; line?: string; output?: Output };
/** What a call waits for before it is sent. */
export type Question =
  | { kind: 'secret'; field: ApiField; command: Command; dropped: boolean; answer: (value: string | undefined) => void }
  | { kind: 'confirm'; op: ApiOperation; path: string; answer: (yes: boolean) => void };

const MOST = 60;

/** The shell's lines and calls: as the person, in the space of the page, through what the explorer sends by. */
export function useShell() {
  const { space, role, person } = useScope();
  const operations = useOperations();
  const commands = useMemo(() => commandsOf(operations.data ?? []), [operations.data]);
  const sources = useSources(commands);
  const send = useSend();
  const [entries, setEntries] = useState<readonly Entry[]>([]);
  const [question, setQuestion] = useState<Question>();
  const [once, setOnce] = useState<readonly ShownOnceValue[]>([]);
  const [running, setRunning] = useState<AbortController>();
  const counted = useRef(0);

  const add = (entry: Omit<Entry, 'key'>): number => {
    const key = ++counted.current;
    setEntries((all) => [...all, { ...entry, key }].slice(-MOST));
    return key;
  };
  /** Puts a question to the person. A call that is stopped takes its question along. */
  const asked = <T>(signal: AbortSignal, make: (answer: (value: T) => void) => Question) =>
    new Promise<T>((resolve) => {
      const close = () => setQuestion(undefined);
      signal.addEventListener('abort', close, { once: true });
      setQuestion(
        make((value) => {
          signal.removeEventListener('abort', close);
          close();
          resolve(value);
        }),
      );
    });

  const outputOf = async (call: Call, signal: AbortSignal): Promise<Output> => {
    const { command } = call;
    const forbidden = forbiddenCall(role, command.op);
    if (forbidden) return { kind: 'refused', sent: false, message: forbidden, next: nextStepOf('role_denied') };
    const steps: Steps = {
      withIds: (_, typed) => withIds(command, typed, sources),
      secret: (field, dropped) => asked(signal, (answer) => ({ kind: 'secret', field, command, dropped, answer })),
      confirm: (op, path) => asked(signal, (answer) => ({ kind: 'confirm', op, path, answer })),
      send: send.mutateAsync,
    };
    const answer = await carryOut(call, space, steps, signal);
    if (!answer) return { kind: 'note', text: 'Not sent.' };
    if (answer.status >= 400) return { kind: 'refused', sent: true, ...refusalIn(answer), requestId: answer.request_id };
    const { shown, once: values } = takenApart(answer, command);
    setOnce(values);
    return { kind: 'answer', shown, as: call.as, status: answer.status, ms: answer.duration_ms };
  };

  const start = async (call: Call, key: number) => {
    const controller = new AbortController();
    setRunning(controller);
    const output = await outputOf(call, controller.signal).catch((error: unknown) => failed(error, call.command));
    // What was sent may hold a secret: nothing here remembers it.
    send.reset();
    setRunning(undefined);
    setEntries((all) => all.map((entry) => (entry.key === key ? { ...entry, output } : entry)));
  };

  /** Carries a line out; false when it cannot be, so that it stays where it was typed. */
  const run = (line: string): boolean => {
    const reading = readLine(line, commands);
    switch (reading.kind) {
      case 'nothing':
        return true;
      case 'clear':
        setEntries([]);
        return true;
      case 'problem':
        add({ output: { kind: 'refused', sent: false, message: reading.message, next: reading.next } });
        return false;
      case 'forget':
        forgetLines(person);
        add({ line: 'history clear', output: { kind: 'note', text: 'Your earlier lines are forgotten on this device.' } });
        return true;
      case 'call':
        if (reading.kept !== undefined) keepLine(person, reading.kept);
        void start(reading, add({ line: reading.echo }));
        return true;
      case 'history':
        add({ line: 'history', output: { kind: 'lines', lines: keptLines(person) } });
        return true;
      case 'help': {
        // Not as it was typed: anything may stand behind the words.
        const asked = helpLine(reading.commands);
        keepLine(person, asked);
        add({ line: asked, output: reading });
        return true;
      }
    }
  };
  return {
    operations,
    commands,
    sources,
    entries,
    question,
    once,
    onceGone: () => setOnce(once.slice(1)),
    isRunning: running !== undefined,
    run,
    stop: () => running?.abort(),
    clear: () => setEntries((all) => all.filter(({ output }) => !output)),
    lines: () => keptLines(person),
  };
}

function failed(error: unknown, { op }: Command): Output {
  if (error instanceof LineProblem) return { kind: 'refused', sent: false, message: error.message, next: error.next };
  if (error instanceof Stopped) {
    const mayBeDone = error.sent && op.method !== 'GET';
    const text = mayBeDone ? 'Stopped waiting. It was on its way and may have been carried out: look before you repeat it.' : 'Stopped.';
    return { kind: 'note', text };
  }
  const { message, code, request_id } = refusalOf(error);
  return { kind: 'refused', sent: true, message, next: nextStepOf(code), requestId: request_id || undefined };
}

/** Where names come from: the lists of the dashboard, asked as the person and kept for a moment. A list they may not see has no names. */
function useSources(commands: readonly Command[]): Sources {
  const cache = useQueryClient();
  const client = useTRPCClient();
  const listed = useListedOperations();
  return useMemo(
    () => ({
      commands,
      listed: listed.data ?? [],
      ask: (procedure, input) =>
        cache
          .fetchQuery({
            queryKey: ['shell-names', procedure, input],
            staleTime: 10_000,
            retry: false,
            queryFn: ({ signal }) => getUntypedClient(client).query(procedure, input, { signal }),
          })
          .catch(() => undefined),
    }),
    [cache, client, commands, listed.data],
  );
}
