import assert from 'node:assert/strict';
import test from 'node:test';
import { idText } from './id-text.ts';

test('an id and the name of a key stay whole', () => {
  for (const id of ['01a200c5-ce3b-7001-9fcd-a5a57ee37094', 'req:01a200c5-ce3b-7001-9fcd-a5a57ee37094', 'tk_test_xPMxt5QFqu0r'])
    assert.deepEqual(idText(id), { kept: id, credential: false });
});

test('of a key, a session or a foreign credential no more than the beginning stays on the page', () => {
  const secret = 'szj0Oiv5rHoVLxjSpSX4wfRQOPCDW5YrVKT1YdqTM6NsO06pAuZ';
  for (const text of [`tk_test_xPMxt5QFqu0r_${secret}`, `ses_${secret}`, `ghp_${secret}`, `Authorization: Bearer ${secret}`]) {
    const { kept, credential } = idText(text);
    assert.ok(credential && kept.length <= 8, text);
  }
});
