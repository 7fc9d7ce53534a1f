// The calls of routes that workflows make have the ID of the node's run, so that an event about such a call leads back to the run that caused it.

const ATTEMPTS = 6;

/** The ID of an attempt's call: the run's own, with its last digit moved by the attempt. */
export const requestIdOf = (runId: string, attempt: number): string => moved(runId, (attempt - 1) % ATTEMPTS);

/** The runs that a call with this ID may have come from. */
export const runsBehind = (requestId: string): string[] => Array.from({ length: ATTEMPTS }, (_, n) => moved(requestId, -n));

function moved(id: string, by: number): string {
  const digit = (Number.parseInt(id.slice(-1), 16) + by + 16) % 16;
  return id.slice(0, -1) + digit.toString(16);
}
