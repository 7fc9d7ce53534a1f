import { processState } from '#server/kernel/process-state.ts';

// Spans as facts, told when they are over. Nothing here loads OpenTelemetry: without an OTLP endpoint there is no sink, and whoever has something to tell
// sees that by one look.

/** What may stand in a span. No header, body or query has a name here; values are scrubbed and cut all the same (`otlp.ts`). */
export type SpanAttributes = Partial<
  Record<
    | 'http.request.method'
    | 'http.response.status_code'
    | 'http.route'
    | 'url.path'
    | 'server.address'
    | 'error.type'
    | 'sallyport.plane'
    | 'sallyport.outcome'
    | 'sallyport.operation'
    | 'sallyport.request_id'
    | 'sallyport.tenant_id'
    | 'sallyport.route'
    | 'sallyport.attempts'
    | 'sallyport.job'
    | 'sallyport.channel'
    | 'sallyport.delivery_id',
    string | number
  >
>;

export type SpanFacts = {
  name: string;
  kind: 'server' | 'client' | 'internal';
  /** Milliseconds on performance.now()'s clock. */
  began: number;
  ended: number;
  /** The `traceparent` that came with it, as it was sent; one that isn't well-formed counts for nothing. */
  parent?: string | undefined;
  /** Whether the caller may decide that its trace is kept. Anyone can set the flag, so only callers who were let in. */
  trusted?: boolean;
  /** The IDs of a trace that begins here, in hexadecimal: those that were told to whoever was called. */
  ids?: { trace: string; span: string } | undefined;
  attributes: SpanAttributes;
  /** Why it failed: a word of ours. */
  error?: string | undefined;
  /** What was waited for within it. */
  inner?: Pick<SpanFacts, 'name' | 'kind' | 'began' | 'ended' | 'attributes' | 'error'> | undefined;
};

export type SpanSink = (facts: SpanFacts) => void;
const held = processState('span-sink', (): { sink: SpanSink | null } => ({ sink: null }));

/** Takes spans; null while nobody wants them. */
export const spanSink = (): SpanSink | null => held.sink;
export function setSpanSink(sink: SpanSink | null): void {
  held.sink = sink;
}

/** IDs made of a UUID of ours, the same that `traceparent` headers are made of. */
export function idsOf(uuid: string): { trace: string; span: string } {
  const trace = uuid.replaceAll('-', '');
  return { trace, span: trace.slice(16) };
}
