import { type Context, DiagLogLevel, diag, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api';
import { type ExportResult, ExportResultCode, setGlobalErrorHandler } from '@opentelemetry/core';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  type IdGenerator,
  ParentBasedSampler,
  RandomIdGenerator,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Otlp, Role } from '../env.ts';
import { log, scrub } from '../log.ts';
import { counter, tally } from './meters.ts';
import { meterProducer } from './producer.ts';
import { release } from './release.ts';
import { type SpanFacts, setSpanSink } from './spans.ts';

const sampled = counter({ name: 'sallyport_trace_spans', help: 'Spans that were sampled for the collector' });
const failures = tally({ name: 'sallyport_otlp_export_failures', help: 'Exports that the collector did not take' }, 'signal');

/** Spans that wait for the collector; beyond them new ones are lost, and calls notice nothing. */
const MOST_WAITING = 2_048;
const EXPORT_MS = 10_000;
const LONGEST_VALUE = 256;

/**
 * Sends traces and metrics to the operator's collector by OTLP over HTTP. The endpoints are the operator's own settings, so the guard for addresses of tenants
 * doesn't apply; redirects aren't followed. A collector that hangs, refuses or is away costs what waits for it and nothing else.
 */
export async function startOtlp(role: Role, otlp: Otlp): Promise<{ close(): Promise<void> }> {
  quieten();
  const resource = resourceOf(role);
  const ends = [traces(otlp, resource), metrics(otlp, resource)].filter((end) => end !== undefined);
  log.info({ traces: otlp.traces !== undefined, metrics: otlp.metrics !== undefined }, 'telemetry is exported');
  return {
    async close() {
      setSpanSink(null);
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, 2_000);
      });
      await Promise.race([Promise.allSettled(ends.map((end) => end())), late]);
      clearTimeout(timer);
    },
  };
}

function metrics({ metrics: url, every_ms }: Otlp, resource: Resource): (() => Promise<void>) | undefined {
  if (url === undefined) return undefined;
  const exporter = counted('metrics', new OTLPMetricExporter({ url }));
  const reader = new PeriodicExportingMetricReader({
    exporter,
    exportIntervalMillis: every_ms,
    exportTimeoutMillis: Math.min(every_ms, EXPORT_MS),
    metricProducers: [meterProducer()],
  });
  const provider = new MeterProvider({ readers: [reader], resource });
  return () => provider.shutdown();
}

function traces(otlp: Otlp, resource: Resource): (() => Promise<void>) | undefined {
  const { traces: url } = otlp;
  if (url === undefined) return undefined;
  const exporter = counted('traces', new OTLPTraceExporter({ url }));
  const processor = new BatchSpanProcessor({ exporter, maxQueueSize: MOST_WAITING, exportTimeoutMillis: EXPORT_MS });
  const ids = givenIds();
  const [trusting, own] = samplersOf(otlp);
  const tracerOf = (sampler: Sampler) =>
    new TracerProvider({ resource, sampler, idGenerator: ids, spanProcessors: [processor] }).getTracer('sallyport');
  const tracers = { trusting: tracerOf(trusting), own: tracerOf(own) };
  setSpanSink((facts) => {
    const parent = facts.parent === undefined ? undefined : parentOf(facts.parent);
    const tracer = parent && facts.trusted !== true ? tracers.own : tracers.trusting;
    ids.give(facts.ids);
    const span = tracer.startSpan(facts.name, optionsOf(facts), parent ?? ROOT_CONTEXT);
    ids.give(undefined);
    if (!span.isRecording()) return;
    sampled.cells[0] = (sampled.cells[0] as number) + 1;
    const { inner } = facts;
    if (inner) finish(tracers.trusting.startSpan(inner.name, optionsOf(inner), trace.setSpan(ROOT_CONTEXT, span)), inner);
    finish(span, facts);
  });
  return () => processor.shutdown();
}

type Timed = Pick<SpanFacts, 'name' | 'kind' | 'began' | 'ended' | 'attributes' | 'error'>;
const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL };
const epochMs = (at: number): number => performance.timeOrigin + at;

const optionsOf = ({ kind, began, attributes }: Timed) => ({ kind: KINDS[kind], startTime: epochMs(began), attributes: shown(attributes) });

function finish(span: Span, { ended, error }: Timed): void {
  if (error !== undefined) span.setAttribute('error.type', short(error)).setStatus({ code: SpanStatusCode.ERROR });
  span.end(epochMs(ended));
}

/** Whatever stands in a value, nothing that is shaped like a credential leaves. */
function shown(attributes: SpanFacts['attributes']): Record<string, string | number> {
  const result: Record<string, string | number> = {};
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined) result[name] = typeof value === 'string' ? short(value) : value;
  return result;
}
const short = (text: string): string => scrub(text).slice(0, LONGEST_VALUE);

/** W3C Trace Context §3.2.2: versions above 00 may have more behind. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-.{0,200})?$/;

function parentOf(header: string): Context | undefined {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(header) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

/** What decides for those who may decide by their own trace, and for all others. */
function samplersOf({ sampler, share }: Otlp): [Sampler, Sampler] {
  const [, based, kind] = /^(parentbased_)?(.+)$/.exec(sampler) ?? [];
  const root =
    kind === 'always_on' ? new AlwaysOnSampler() : kind === 'always_off' ? new AlwaysOffSampler() : new TraceIdRatioBasedSampler(share);
  return [based ? new ParentBasedSampler({ root }) : root, root];
}

/** Random IDs, but for a span whose IDs others know already. */
function givenIds(): IdGenerator & { give(ids: SpanFacts['ids']): void } {
  const random = new RandomIdGenerator();
  let given: SpanFacts['ids'];
  return {
    give: (ids) => {
      given = ids;
    },
    generateTraceId: () => given?.trace ?? random.generateTraceId(),
    generateSpanId: () => given?.span ?? random.generateSpanId(),
  };
}

function resourceOf(role: Role): Resource {
  const own = { 'service.name': `sallyport-${role}`, 'service.version': release(), 'process.pid': process.pid };
  // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES, which win.
  return resourceFromAttributes(own).merge(detectResources({ detectors: [envDetector] }));
}

type Exporter<T> = { export(items: T, done: (result: ExportResult) => void): void };

/** Counts what the collector didn't take. */
function counted<T, E extends Exporter<T>>(signal: string, exporter: E): E {
  const send = exporter.export.bind(exporter);
  exporter.export = (items: T, done: (result: ExportResult) => void) =>
    send(items, (result) => {
      if (result.code !== ExportResultCode.SUCCESS) failures.add(signal);
      done(result);
    });
  return exporter;
}

const QUIET_MS = 60_000;

/** OpenTelemetry's own messages, in our log and at most one a minute: a collector that is away is no news every second. */
function quieten(): void {
  let last = 0;
  const tell = (message: unknown) => {
    if (Date.now() - last < QUIET_MS) return;
    last = Date.now();
    log.warn({ detail: String(message instanceof Error ? message.message : message).slice(0, 500) }, 'telemetry could not be exported');
  };
  const ignore = () => {};
  diag.setLogger(
    { error: tell, warn: tell, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  setGlobalErrorHandler(tell);
}
