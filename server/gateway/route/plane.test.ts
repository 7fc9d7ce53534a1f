import assert from 'node:assert/strict';
import test from 'node:test';
import { routePlane } from './plane.ts';

test('the phases of a call stand in the normative order (interface rule 12 §18)', () => {
  const names = [
    'inspect',
    'authenticate',
    'find_route',
    'match_client',
    'admit',
    'restrict',
    'detect_loop',
    'verify_signature',
    'limit',
    'rewrite',
    'change_fields',
    'sign_upstream',
  ];
  assert.deepEqual(routePlane.phaseNames, names);
  assert.deepEqual(
    routePlane.phases.map((phase) => phase.name),
    names.map((name) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())),
  );
  assert.equal(names[routePlane.limitPhase], 'limit');
});
