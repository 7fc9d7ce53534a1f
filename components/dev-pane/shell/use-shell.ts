'use client';

import { useQueryClient } from '@tanstack/react-query';
import { getUntypedClient } from '@trpc/client';
import { useEffect, useMemo } from 'react';
import { refusalIn } from '#components/explorer/answer.ts';
import { forbiddenCall } from '#components/explorer/forbidden.ts';
import { useOperations, useSend } from '#components/explorer/use-explorer.ts';
import { listedOperationsQuery } from '#components/trpc/listed-operations.ts';
import { useScope, useTRPCClient } from '#components/trpc/provider.tsx';
import { nextStepOf } from '#components/trpc/refusal.ts';
import { type Command, commandsOf, helpLine } from './commands.ts';
import { type Call, carryOut, type Steps } from './execute.ts';
import { outputOfFailure, whatOf } from './failure.ts';
import { forgetLines, keepLine, keptLines } from './line-history.ts';
import { nameSources } from './name-sources.ts';
import { shownOf } from './output.ts';
import { readLine } from './parse-line.ts';
import { type Sources, withIds } from './resource-names.ts';
import { addEntry, change, type Output, type Question, sessionOf, setOutput, useSession } from './session.ts';

/** The shell's lines and calls: as the person, in the space of the page, through what the explorer sends by. */
export function useShell() {
  const { slug, space, role, person } = useScope();
  const place = useMemo(() => ({ slug, space, person }), [slug, space, person]);
  const operations = useOperations();
  const commands = useMemo(() => commandsOf(operations.data ?? []), [operations.data]);
  const sources = useSources(commands);
  const send = useSend();
  const { entries, question, running } = useSession(place);
  // The pane goes: a call that still has something to ask would ask it of nobody. One that was sent goes on.
  useEffect(
    () => () => {
      const { running } = sessionOf(place);
      if (running && !running.sent) running.controller.abort();
    },
    [place],
  );

  const add = (entry: { line?: string; output?: Output }) => addEntry(place, entry);
  /** Puts a question to the person. A call that is stopped takes its question along. */
  const asked = <T>(signal: AbortSignal, make: (answer: (value: T) => void) => Question) =>
    new Promise<T>((resolve) => {
      const close = () => change(place, { question: undefined });
      signal.addEventListener('abort', close, { once: true });
      const answer = (value: T) => {
        signal.removeEventListener('abort', close);
        close();
        resolve(value);
      };
      change(place, { question: make(answer) });
    });

  const outputOf = async (call: Call, controller: AbortController): Promise<Output> => {
    const { command } = call;
    const forbidden = forbiddenCall(role, command.op);
    if (forbidden) return { kind: 'problem', what: 'Not sent', message: forbidden, next: nextStepOf('role_denied') };
    const steps: Steps = {
      withIds: (_, typed) => withIds(command, typed, sources),
      secret: (field, dropped) => asked(controller.signal, (answer) => ({ kind: 'secret', field, command, dropped, answer })),
      confirm: (op, path) => asked(controller.signal, (answer) => ({ kind: 'confirm', op, path, answer })),
      send: (sent) => {
        change(place, { running: { controller, sent: true } });
        return send.mutateAsync(sent);
      },
    };
    const answer = await carryOut(call, space, steps, controller.signal);
    if (!answer) return { kind: 'note', text: 'Not sent.' };
    if (answer.status >= 400) {
      const { message, next } = refusalIn(answer);
      return { kind: 'problem', what: whatOf(answer.status), message, next, requestId: answer.request_id };
    }
    return { kind: 'answer', shown: shownOf(answer, command), as: call.as, status: answer.status, ms: answer.duration_ms };
  };

  const start = async (call: Call, key: number) => {
    const controller = new AbortController();
    change(place, { running: { controller, sent: false } });
    const output = await outputOf(call, controller).catch((error: unknown) => outputOfFailure(error, call.command));
    // What was sent may hold a secret: nothing here remembers it.
    send.reset();
    setOutput(place, key, output);
    change(place, { running: undefined });
  };

  /** Carries a line out; false when it cannot be, so that it stays where it was typed. */
  const run = (line: string): boolean => {
    const reading = readLine(line, commands);
    switch (reading.kind) {
      case 'nothing':
        return true;
      case 'clear':
        change(place, { entries: [] });
        return true;
      case 'problem':
        add({ output: { ...reading, what: 'Not sent' } });
        return false;
      case 'forget':
        forgetLines(person);
        add({ line: 'history clear', output: { kind: 'note', text: 'History cleared on this device.' } });
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
    isRunning: running !== undefined,
    run,
    stop: () => running?.controller.abort(),
    clear: () => change(place, { entries: entries.filter(({ output }) => !output) }),
    lines: () => keptLines(person),
  };
}

/** The lists of the dashboard, for the names on a line. */
function useSources(commands: readonly Command[]): Sources {
  const cache = useQueryClient();
  const client = useTRPCClient();
  return useMemo(
    () =>
      nameSources({
        commands,
        cache,
        query: (procedure, input, signal) => getUntypedClient(client).query(procedure, input, { signal }),
        listed: () => cache.ensureQueryData(listedOperationsQuery),
      }),
    [cache, client, commands],
  );
}
