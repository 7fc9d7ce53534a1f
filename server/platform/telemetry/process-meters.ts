import { constants, PerformanceObserver, performance } from 'node:perf_hooks';
import type { Role } from '../env.ts';
import { histogram, observe } from './meters.ts';
import { release } from './release.ts';

const LAG_EVERY_MS = 500;
const LAG_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];
const GC_BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25];
const GC_KINDS: Readonly<Record<number, string>> = {
  [constants.NODE_PERFORMANCE_GC_MINOR]: 'minor',
  [constants.NODE_PERFORMANCE_GC_MAJOR]: 'major',
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: 'incremental',
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: 'weak',
};

/** Memory, processor time, garbage collection and the event loop of this process, and what release it is. Returns what ends the measuring. */
export function measureProcess(role: Role): () => void {
  const gc = histogram(
    { name: 'sallyport_gc_duration_seconds', help: 'Pauses of garbage collection by kind', unit: 's' },
    GC_BOUNDS,
    'kind',
    Object.values(GC_KINDS),
  );
  const collections = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { kind } = (entry as { detail?: { kind?: number } }).detail ?? {};
      gc.observe(entry.duration / 1_000, gc.row(GC_KINDS[kind ?? 0] ?? ''));
    }
  });
  collections.observe({ entryTypes: ['gc'] });

  const lag = histogram(
    { name: 'sallyport_event_loop_lag_seconds', help: 'How late a timer of half a second runs', unit: 's' },
    LAG_BOUNDS,
  );
  let due = performance.now() + LAG_EVERY_MS;
  const timer = setInterval(() => {
    const now = performance.now();
    lag.observe(Math.max(0, now - due) / 1_000);
    due = now + LAG_EVERY_MS;
  }, LAG_EVERY_MS);
  timer.unref();

  const removals = [
    observe('gauge', { name: 'sallyport_build_info', help: 'Always 1; the labels say what runs' }, () => [
      { labels: { version: release(), role, node: process.version }, value: 1 },
    ]),
    observe('gauge', { name: 'sallyport_process_start_time_seconds', help: 'When the process started, Unix time', unit: 's' }, () =>
      Math.round(performance.timeOrigin / 1_000),
    ),
    observe('counter', { name: 'sallyport_process_cpu_seconds', help: 'Processor time by mode', unit: 's' }, () => {
      const { user, system } = process.cpuUsage();
      return [
        { labels: { mode: 'user' }, value: user / 1e6 },
        { labels: { mode: 'system' }, value: system / 1e6 },
      ];
    }),
    observe(
      'counter',
      { name: 'sallyport_event_loop_active_seconds', help: 'Time in which the event loop had work', unit: 's' },
      () => performance.eventLoopUtilization().active / 1_000,
    ),
    observe('gauge', { name: 'sallyport_process_memory_bytes', help: 'Memory by kind', unit: 'By' }, () => {
      const { rss, heapUsed, heapTotal, external, arrayBuffers } = process.memoryUsage();
      const kinds = { rss, heap_used: heapUsed, heap_total: heapTotal, external, array_buffers: arrayBuffers };
      return Object.entries(kinds).map(([kind, value]) => ({ labels: { kind }, value }));
    }),
  ];
  return () => {
    clearInterval(timer);
    collections.disconnect();
    for (const remove of removals) remove();
  };
}
