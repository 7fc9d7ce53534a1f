import assert from 'node:assert/strict';
import test from 'node:test';
import { type Answer, eventReader, NOTHING, refusalOf, withChunk } from './playground-stream.ts';

const stream = [
  { model: 'gpt-5.4-mini', choices: [{ delta: { role: 'assistant', content: '' } }] },
  { choices: [{ delta: { content: 'Hel' } }] },
  { choices: [{ delta: { content: 'lo' }, finish_reason: 'stop' }] },
  { choices: [], usage: { prompt_tokens: 9, completion_tokens: 2 } },
]
  .map((event) => `data: ${JSON.stringify(event)}\n\n`)
  .concat('data: [DONE]\n\n')
  .join('');

test('a stream cut at any place reads the same', () => {
  for (let cut = 0; cut <= stream.length; cut++) {
    let answer: Answer = NOTHING;
    const read = eventReader((data) => {
      if (data !== '[DONE]') answer = withChunk(answer, JSON.parse(data));
    });
    read(stream.slice(0, cut));
    read(stream.slice(cut));
    assert.deepEqual(answer, { ...NOTHING, text: 'Hello', model: 'gpt-5.4-mini', finish: 'stop', input_tokens: 9, output_tokens: 2 });
  }
});

test('refusals of the plane, the dashboard and a provider are told by code and message', () => {
  const plane = { error: 'budget_exceeded', error_description: 'The daily budget is used up.', code: 'budget_exceeded' };
  assert.deepEqual(refusalOf(plane, '60', 0), {
    code: 'budget_exceeded',
    message: 'The daily budget is used up.',
    retry_at: '1970-01-01T00:01:00.000Z',
  });
  assert.deepEqual(refusalOf({ error: { code: 'role_denied', message: 'No.' } }), {
    code: 'role_denied',
    message: 'No.',
    retry_at: undefined,
  });
  assert.equal(refusalOf({ choices: [] }), undefined);
  assert.equal(withChunk(NOTHING, plane).refusal?.code, 'budget_exceeded');
});
