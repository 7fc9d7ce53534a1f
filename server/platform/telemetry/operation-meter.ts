import { counter, histogram } from './meters.ts';
import { idsOf, type SpanSink, spanSink } from './spans.ts';

const SURFACES = ['v1', 'dashboard', 'hot_v1'] as const;
const CLASSES = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const;
const BOUNDS = [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

const operations = counter(
  { name: 'sallyport_operations', help: 'Calls of the Management API and of the dashboard, by class of status' },
  { surface: SURFACES, status: CLASSES },
);
const duration = histogram(
  { name: 'sallyport_operation_duration_seconds', help: 'Time from a call of an operation to its answer', unit: 's' },
  BOUNDS,
  'surface',
  SURFACES,
);

/** Counts an operation that was answered; `ms` is how long it took. `hot_v1` is what the gateway answered by itself. */
export function countOperation(surface: (typeof SURFACES)[number], status: number, ms: number): void {
  const cell = operations.index(surface, CLASSES[Math.floor(status / 100) - 1] ?? '5xx');
  operations.cells[cell] = (operations.cells[cell] as number) + 1;
  duration.observe(ms / 1_000, duration.row(surface));
}

/** An operation that was answered; what it was asked with isn't part of it. */
export type OperationEnd = {
  surface: (typeof SURFACES)[number];
  /** On performance.now()'s clock. */
  began: number;
  status: number;
  request_id: string;
  /** Undefined when the request named none. */
  operation?: string | undefined;
  /** `METHOD /path/{template}`. */
  route?: string | undefined;
  traceparent?: string | null | undefined;
  tenant_id?: string | undefined;
};

/** Counts an operation, and tells its span if anybody wants spans. */
export function operationEnded(end: OperationEnd): void {
  countOperation(end.surface, end.status, performance.now() - end.began);
  const sink = spanSink();
  if (sink !== null) tellOperation(sink, end);
}

/** The span of an operation that has just been answered. */
export function tellOperation(
  sink: SpanSink,
  { surface, began, status, request_id, operation, route, traceparent, tenant_id }: OperationEnd,
): void {
  sink({
    ...{
      name: operation ?? surface,
      kind: 'server',
      began,
      ended: performance.now(),
      parent: traceparent ?? undefined,
      trusted: tenant_id !== undefined,
    },
    ids: traceparent || !UUID.test(request_id) ? undefined : idsOf(request_id),
    attributes: {
      ...{ 'http.response.status_code': status, 'sallyport.plane': surface, 'sallyport.request_id': request_id },
      ...(operation !== undefined && { 'sallyport.operation': operation }),
      ...(route !== undefined && { 'http.request.method': route.split(' ')[0] as string, 'http.route': route.split(' ')[1] as string }),
      ...(tenant_id !== undefined && { 'sallyport.tenant_id': tenant_id }),
    },
    error: status >= 500 ? String(status) : undefined,
  });
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
