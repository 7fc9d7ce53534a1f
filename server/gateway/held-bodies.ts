import type { Call } from './call.ts';
import { shares } from './shares.ts';

const MIB = 1024 * 1024;
/** A body up to here is not counted: as many as may run at once need little. */
const UNCOUNTED = 64 * 1024;

export type HeldBodies = {
  /** Says that the call holds so many bytes of bodies by now. False, and nothing is counted, when it may not hold that many. */
  hold(call: Call, bytes: number): boolean;
  /** Of a call that is over. */
  letGo(call: Call): void;
};

/**
 * How much memory the bodies of running calls take, of one workspace and of all: two hundred calls that each hold ten megabytes, and send the last byte
 * a minute later, would otherwise take the gateway from everybody.
 */
export function heldBodies(perWorkspace = 128 * MIB, most = 512 * MIB): HeldBodies {
  const memory = shares(perWorkspace, most);
  return {
    hold(call, bytes) {
      const more = bytes <= UNCOUNTED ? 0 : bytes - call.heldBytes;
      if (more <= 0) return true;
      if (!memory.take(call.snapshot.tenant.id, more)) return false;
      call.heldBytes += more;
      return true;
    },
    letGo(call) {
      if (call.heldBytes === 0) return;
      memory.give(call.snapshot.tenant.id, call.heldBytes);
      call.heldBytes = 0;
    },
  };
}
