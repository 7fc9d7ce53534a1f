import type pg from 'pg';
import { storedAuthorities } from '#server/domain/authorities/service.ts';
import { configOf, type ExecutionError, type WorkflowNode } from '../definition.shared.ts';
import { newMeter } from '../expressions/meter.shared.ts';
import type { NodeCall, NodeResult } from '../nodes/node-call.ts';
import { type Frame, type Graph, inputOf, iteration, ROOT, type Run, scopeIn } from './graph.ts';
import type { JsonSize } from './json-size.ts';
import type { Meter } from './metering.ts';
import type { Room } from './room.ts';
import type { Claimed, Timer } from './store.ts';
import { type ExecutionValue, kept } from './values.ts';

export type Held = {
  execution: Claimed;
  /** Ends what is in flight: the lease is lost, or the worker stops. */
  abandoned: AbortController;
  /** Somebody asked for its end. */
  cancel: () => void;
};
export type Tools = { pool: pg.Pool; owner: string; meter: Meter; room: Room; clock: () => Date };

/** A node that ended. `applied` is called once its result counts as what the execution holds. */
export type Ended = { key: string; result: NodeResult; applied: () => void };

export type Drive = {
  held: Held;
  tools: Tools;
  graph: Graph;
  value: ExecutionValue;
  timers: Map<string, Timer>;
  /** In flight, by the key of their run. */
  tasks: Map<string, Promise<Ended>>;
  dirty: Set<Run>;
  operations: number;
  /** The size of every output. */
  state: Map<string, JsonSize>;
  /** The worker's memory is for others until it wakes again. */
  steppedBack: boolean;
  /** Bytes of what its nodes were given, as far as that is kept. */
  inputs: number;
  largeChanged: boolean;
  responseRun: string | undefined;
  /** Why it ends before its graph does. */
  stop: { status: 'failed' | 'cancelled'; code: ExecutionError; message: string } | null;
  /** Ends the nodes in flight. */
  inFlight: AbortController;
  began: number;
  clockOut: NodeJS.Timeout | undefined;
  wake: () => void;
};

/** Says what it holds in memory: what started it, what its nodes were given as far as that is kept, and their outputs. */
export function hold({ held, tools, value, inputs, state, steppedBack }: Drive): void {
  if (!steppedBack) tools.room.holds(held.execution.id, [kept(value.input).size, { bytes: inputs, values: 0 }, ...state.values()]);
}

/** What an input of a node counts for in `inputs`. */
export const inputBytes = ({ type }: WorkflowNode, input: unknown): number =>
  type === 'set_response' || input === null ? 0 : kept(input).size.bytes;

/** `outer:2/inner:0` as frames. */
export function frameOf(path: string): Frame {
  if (path === '') return ROOT;
  return path.split('/').reduce((parent, part) => {
    const mark = part.lastIndexOf(':');
    return iteration(parent, part.slice(0, mark), Number(part.slice(mark + 1)));
  }, ROOT);
}

export function callOf(drive: Drive, node: WorkflowNode, run: Run, frame: Frame, pace?: NodeCall['pace']): NodeCall {
  const { execution } = drive.held;
  const { tenant_id, sandbox, id, workflow_id, chain, authorities, plan } = execution;
  const place =
    frame.path === ''
      ? '0'
      : frame.path
          .split('/')
          .map((part) => part.slice(part.lastIndexOf(':') + 1))
          .join('-');
  return {
    place: { tenant_id, sandbox },
    execution: { id, workflow_id, chain },
    environment: execution.environment,
    authorities: storedAuthorities(authorities),
    plan,
    runId: run.id,
    node,
    config: configOf(node),
    input: inputOf(drive.graph, node, frame),
    scope: scopeIn(drive.graph, frame),
    meter: newMeter(),
    attempt: run.attempt,
    idempotencyKey: `wf_${id}_${node.id}_${place}`,
    now: drive.tools.clock(),
    signal: drive.inFlight.signal,
    pace,
  };
}
