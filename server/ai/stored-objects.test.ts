import assert from 'node:assert/strict';
import test from 'node:test';
import { handedOut, namedObjects } from './stored-objects.ts';

test('a request names stored objects wherever its shape has them, and nowhere else', () => {
  const body = {
    previous_response_id: 'resp_1',
    conversation: { id: 'conv_1' },
    tools: [
      { type: 'code_interpreter', container: { type: 'auto', file_ids: ['file-1'] } },
      { type: 'function', name: 'f', parameters: { properties: { file_id: { type: 'string', default: 'x' } } } },
    ],
    input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file-2' }] }],
    contents: [
      {
        parts: [
          { fileData: { fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/abc' } },
          { fileData: { fileUri: 'gs://bucket/own' } },
        ],
      },
    ],
    messages: [{ role: 'assistant', content: [{ type: 'tool_use', name: 'open', input: { file_id: 'what the model said' } }] }],
    metadata: { container: 'a label' },
  };
  assert.deepEqual(namedObjects(body).sort(), ['conv_1', 'file-1', 'file-2', 'files/abc', 'resp_1']);
});

test('an answer hands out its own id, and those of containers and files in it', () => {
  assert.deepEqual(
    handedOut({
      id: 'resp_1',
      object: 'response',
      output: [{ container_id: 'cntr_1', content: [{ annotations: [{ file_id: 'cfile_1' }] }] }],
    }),
    ['resp_1', 'cntr_1', 'cfile_1'],
  );
  assert.deepEqual(handedOut({ type: 'response.created', response: { id: 'resp_2' } }), ['resp_2']);
  assert.deepEqual(handedOut({ id: 'chatcmpl-1', object: 'chat.completion' }), []);
});
