import type { Transfer } from '#server/platform/in-flight.ts';
import { log } from '#server/platform/log.ts';
import type { WorkflowNode } from '../definition.shared.ts';
import { runNode } from '../nodes/kinds.ts';
import { faultOf, type NodeCall, type NodeFault } from '../nodes/node-call.ts';
import { callOf, type Drive, type Ended, frameOf } from './drive-state.ts';
import type { Run } from './graph.ts';

/** Runs a node; what it comes to is one of the tasks. */
export function launch(drive: Drive, key: string): void {
  const run = drive.graph.runs.get(key) as Run;
  const node = drive.graph.structure.nodes.get(run.node_id) as WorkflowNode;
  const { pace, applied } = counted(drive);
  const call = callOf(drive, node, run, frameOf(run.path), pace);
  const task = (async (): Promise<Ended> => {
    try {
      const result = await runNode(call);
      return {
        ...{ key, applied },
        result: result ?? { status: 'failed', fault: { code: 'invalid_config', message: `There is no type "${node.type}".` } },
      };
    } catch (error) {
      return { key, applied, result: { status: 'failed', fault: faultOf(error) ?? ours(drive, node, error) } };
    }
  })();
  drive.tasks.set(key, task);
}

/** A fault that isn't the definition's: aborted, or a bug. */
function ours(drive: Drive, node: WorkflowNode, error: unknown): NodeFault {
  if (drive.inFlight.signal.aborted) return { code: drive.stop?.code ?? 'cancelled', message: drive.stop?.message ?? 'The run ended.' };
  log.error({ err: error, execution_id: drive.held.execution.id, node_type: node.type }, 'a node failed for a reason of ours');
  return { code: 'invalid_config', message: 'The node could not be run.' };
}

/** Counts what the requests of a node have in flight, until its result counts as what the execution holds. */
function counted({ tools, held }: Drive): { pace: NodeCall['pace']; applied: () => void } {
  const transfers: Transfer[] = [];
  return {
    pace: (sent) => (resume) => {
      const transfer = tools.room.transfer(held.execution.id, sent, resume);
      transfers.push(transfer);
      return transfer.received;
    },
    applied() {
      for (const transfer of transfers) transfer.done();
    },
  };
}
