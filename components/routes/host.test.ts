import assert from 'node:assert/strict';
import test from 'node:test';
import { isStarter } from './host.ts';

test('tells the starter route from a route somebody made to the echo upstream', () => {
  const echo = 'http://echo.sallyport.internal';
  assert.equal(isStarter({ slug: 'echo', target_base_url: echo }), true);
  assert.equal(isStarter({ slug: 'my-echo', target_base_url: echo }), false);
  assert.equal(isStarter({ slug: null, target_base_url: `${echo}/v1` }), false);
  assert.equal(isStarter({ slug: 'echo', target_base_url: 'https://api.example.com' }), false);
});
