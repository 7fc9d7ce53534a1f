import assert from 'node:assert/strict';
import test from 'node:test';
import { endUser, LONGEST_CHAT_USER } from './end-user.ts';

test('an ID of an end user is passed on as it is, and a longer one than the provider takes is still one user', () => {
  assert.equal(endUser('user_1', LONGEST_CHAT_USER), 'user_1');
  const session = (name: string) => `user_${'0f'.repeat(32)}_account__session_${name.repeat(36)}`;
  const [one, again, other] = ['a', 'a', 'b'].map((name) => endUser(session(name), LONGEST_CHAT_USER));
  assert.match(one ?? '', /^[0-9a-f]{64}$/);
  assert.deepEqual([again === one, other === one], [true, false]);
});
