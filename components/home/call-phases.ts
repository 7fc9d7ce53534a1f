import type { Phase } from '#components/ui/phase-bar.tsx';

/** Our part and the upstream's; our part in the phases that took measurable time, when they were recorded. */
export function phasesOf(call: { latency_ms: number | null; upstream_ms: number | null }, trace: unknown): Phase[] {
  const upstream = call.upstream_ms ?? 0;
  const recorded = (trace as { phases_ms?: Record<string, number> } | null | undefined)?.phases_ms ?? {};
  const inside = Object.entries(recorded).map(([name, ms]): Phase => ({ name: name.replaceAll('_', ' '), ms, where: 'inside' }));
  const known = inside.reduce((sum, phase) => sum + phase.ms, 0);
  const rest = Math.max(0, (call.latency_ms ?? 0) - upstream - known);
  return [
    ...inside,
    ...(upstream > 0 ? [{ name: 'upstream', ms: upstream, where: 'upstream' as const }] : []),
    ...(rest > 0 || inside.length === 0 ? [{ name: inside.length > 0 ? 'answer' : 'gateway', ms: rest, where: 'inside' as const }] : []),
  ];
}
