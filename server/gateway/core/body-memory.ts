import type { Call } from './call.ts';
import { quota } from './quota.ts';

const MIB = 1024 * 1024;
/** Smaller bodies aren't counted: even of all calls under way they need little. */
const UNCOUNTED = 64 * 1024;

export type BodyMemory = {
  /** Declares how many bytes of bodies the call now holds. Returns false, and counts nothing, if that is too much. */
  hold(call: Call, bytes: number): boolean;
  /** Called when the call has ended. */
  release(call: Call): void;
};

/**
 * Limits the memory for bodies of calls under way, per workspace and in total. Without it, two hundred calls that each hold ten megabytes and send
 * their last byte a minute later would exhaust the gateway.
 */
export function bodyMemory(perWorkspace = 128 * MIB, most = 512 * MIB): BodyMemory {
  const memory = quota(perWorkspace, most);
  return {
    hold(call, bytes) {
      const more = bytes <= UNCOUNTED ? 0 : bytes - call.bufferedBytes;
      if (more <= 0) return true;
      if (!memory.take(call.snapshot.tenant.id, more)) return false;
      call.bufferedBytes += more;
      return true;
    },
    release(call) {
      if (call.bufferedBytes === 0) return;
      memory.give(call.snapshot.tenant.id, call.bufferedBytes);
      call.bufferedBytes = 0;
    },
  };
}
