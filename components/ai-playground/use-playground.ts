'use client';

import { useRef, useState } from 'react';
import { useScope } from '#components/trpc/provider.tsx';
import { type Answer, eventReader, NOTHING, refusalOf, withChunk } from './playground-stream.ts';

export type Message = { role: 'system' | 'user' | 'assistant'; content: string };
export type Call = { agent_id: string; model?: string; messages: readonly Message[]; max_tokens?: number; stream: boolean };
export type Run = {
  answer: Answer;
  state: 'idle' | 'waiting' | 'streaming' | 'done' | 'stopped';
  request_id: string | undefined;
  status: number | undefined;
  /** Of the first byte of text, and of the end. */
  first_ms: number | undefined;
  total_ms: number | undefined;
};

const IDLE: Run = { answer: NOTHING, state: 'idle', request_id: undefined, status: undefined, first_ms: undefined, total_ms: undefined };

/** Makes calls of an agent, one at a time, and holds what came of the last. No credential is involved on this side. */
export function usePlayground() {
  const { csrf, slug, space } = useScope();
  const [run, setRun] = useState(IDLE);
  const aborting = useRef<AbortController>(undefined);

  async function send(call: Call): Promise<Answer | undefined> {
    aborting.current?.abort();
    const abort = new AbortController();
    aborting.current = abort;
    const began = performance.now();
    const passed = () => Math.round(performance.now() - began);
    let answer = NOTHING;
    setRun({ ...IDLE, state: 'waiting' });
    try {
      const response = await fetch('/admin/ai/playground', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-csrf-token': csrf, 'x-svc-space': space, 'x-tenant-id': slug },
        body: JSON.stringify(call),
        signal: abort.signal,
      });
      const head = { request_id: response.headers.get('x-request-id') ?? undefined, status: response.status };
      setRun((now) => ({ ...now, ...head, state: 'streaming' }));
      const take = (data: unknown) => {
        answer = withChunk(answer, data);
        setRun((now) => ({ ...now, answer, first_ms: now.first_ms ?? (answer.text ? passed() : undefined) }));
      };
      if (response.ok && response.body && response.headers.get('content-type')?.includes('text/event-stream')) {
        const read = eventReader((data) => {
          if (data !== '[DONE]' && data !== '') take(JSON.parse(data));
        });
        const text = response.body.pipeThrough(new TextDecoderStream()).getReader();
        for (let part = await text.read(); !part.done; part = await text.read()) read(part.value);
      } else {
        const body: unknown = await response.json().catch(() => ({}));
        const refusal = response.ok
          ? undefined
          : (refusalOf(body, response.headers.get('retry-after')) ?? {
              code: String(response.status),
              message: 'The call failed.',
              retry_at: undefined,
            });
        if (refusal) answer = { ...answer, refusal };
        else take(body);
      }
      setRun((now) => ({ ...now, answer, state: 'done', total_ms: passed() }));
      return answer;
    } catch {
      // A stream that breaks off is told by the plane's last event; without one the connection was lost.
      const refusal = abort.signal.aborted
        ? undefined
        : { code: 'connection_lost', message: 'The connection was lost before the answer was complete.', retry_at: undefined };
      answer = refusal ? { ...answer, refusal } : answer;
      setRun((now) => ({ ...now, answer, state: abort.signal.aborted ? 'stopped' : 'done', total_ms: passed() }));
      return undefined;
    }
  }
  return { run, send, stop: () => aborting.current?.abort(), reset: () => setRun(IDLE) };
}
