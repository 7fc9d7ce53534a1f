import type { EphemeralCall } from './ephemeral-call.ts';

/** Lets go of what only this call knew. */
export function ended(call: EphemeralCall): void {
  const { state } = call;
  clearTimeout(state.deadline);
  if (state.overdue) call.error = 'upstream_stream_failed';
  state.values = null;
  state.resolution = null;
  state.encrypted = null;
  state.scanned = null;
  call.ownHeaders = null;
}
