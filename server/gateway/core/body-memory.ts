import type { Call } from './call.ts';
import { shares } from './quota.ts';

const MIB = 1024 * 1024;
/** A body up to here is not counted: as many as may run at once need little. */
const UNCOUNTED = 64 * 1024;

export type BodyMemory = {
  /** Says that the call holds so many bytes of bodies by now. False, and nothing is counted, when it may not hold that many. */
  hold(call: Call, bytes: number): boolean;
  /** Of a call that is over. */
  release(call: Call): void;
};

/**
 * How much memory the bodies of running calls take, of one workspace and of all: two hundred calls that each hold ten megabytes, and send the last byte
 * a minute later, would otherwise take the gateway from everybody.
 */
export function bodyMemory(perWorkspace = 128 * MIB, most = 512 * MIB): BodyMemory {
  const memory = shares(perWorkspace, most);
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
