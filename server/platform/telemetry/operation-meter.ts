import { counter, histogram } from './meters.ts';

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
