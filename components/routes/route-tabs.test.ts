import assert from 'node:assert/strict';
import test from 'node:test';
import { TABS, tabOf } from './route-tabs.ts';

test('a route has at most eight tabs, and links with earlier names open the tab that holds their section', () => {
  assert.ok(TABS.length <= 8);
  for (const tab of TABS) assert.equal(tabOf(tab), tab);
  assert.deepEqual(['security', 'limits', 'methods'].map(tabOf), ['access', 'access', 'access']);
  assert.deepEqual(['upstream', 'json', 'differences'].map(tabOf), ['config', 'config', 'config']);
  for (const text of ['', 'nothing', '__proto__', 'constructor']) assert.equal(tabOf(text), null);
});
