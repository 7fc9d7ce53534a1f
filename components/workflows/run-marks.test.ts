import assert from 'node:assert/strict';
import { test } from 'node:test';
import { edgeMarksOf, marksOfRun, outputsOf } from './run-marks.ts';
import type { StepRun } from './workflow-labels.ts';

const run = (node_id: string, status: StepRun['status'], more: Partial<StepRun> = {}): StepRun => ({
  ...{
    id: `${node_id}-${more.path ?? ''}`,
    node_id,
    node_name: node_id,
    node_type: 'transform',
    status,
    attempt: 1,
    iteration: null,
    path: '',
  },
  ...{ handles: [], started_at: null, completed_at: null, duration_ms: 10, error_code: null, error_message: null, truncated: false },
  ...more,
});

test('a step that ran in a loop is as good as its worst iteration', () => {
  const marks = marksOfRun([
    run('store', 'succeeded', { path: 'each:0' }),
    run('store', 'failed', { path: 'each:1' }),
    run('store', 'succeeded', { path: 'each:2', attempt: 3 }),
    run('report', 'skipped'),
  ]);
  assert.deepEqual(marks.get('store'), { status: 'failed', detail: '2 of 3 items, 30 ms, attempt 3' });
  assert.deepEqual(marks.get('report'), { status: 'skipped', detail: undefined });
});

test('only what succeeded is offered as a value, the last iteration of several', () => {
  const outputs = outputsOf([
    run('a', 'failed', { output: { partial: true } }),
    run('b', 'succeeded', { output: 1, path: 'each:0' }),
    run('b', 'succeeded', { output: 2, path: 'each:1' }),
  ]);
  assert.deepEqual([...outputs], [['b', 2]]);
});

test('the ways a run went are told from those it did not, once it has ended', () => {
  const definition = {
    nodes: [
      { id: 'trigger-node', type: 'trigger' },
      ...['if', 'yes', 'no'].map((id) => ({ id, type: id === 'if' ? 'condition' : 'email' })),
    ],
    edges: [
      { source: 'trigger-node', target: 'if' },
      { source: 'if', target: 'yes', sourceHandle: 'true' },
      { source: 'if', target: 'no', sourceHandle: 'false' },
    ],
  };
  const node_executions = [run('trigger-node', 'succeeded', { handles: ['out'] }), run('if', 'succeeded', { handles: ['true'] })];
  const marks = (status: 'running' | 'completed') => [...edgeMarksOf({ definition, node_executions, status }).values()];
  assert.deepEqual(marks('running'), ['taken', 'taken']);
  assert.deepEqual(marks('completed'), ['taken', 'taken', 'dead']);
});
