import type { Call } from './call.ts';

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
  const held = new Map<string, number>();
  let total = 0;

  function move(tenantId: string, bytes: number): void {
    const now = (held.get(tenantId) ?? 0) + bytes;
    total += bytes;
    if (now > 0) held.set(tenantId, now);
    else held.delete(tenantId);
  }

  return {
    hold(call, bytes) {
      const { id } = call.snapshot.tenant;
      const more = bytes <= UNCOUNTED ? 0 : bytes - call.heldBytes;
      if (more <= 0) return true;
      if (total + more > most || (held.get(id) ?? 0) + more > perWorkspace) return false;
      call.heldBytes += more;
      move(id, more);
      return true;
    },
    letGo(call) {
      if (call.heldBytes === 0) return;
      move(call.snapshot.tenant.id, -call.heldBytes);
      call.heldBytes = 0;
    },
  };
}
