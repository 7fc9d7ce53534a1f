import assert from 'node:assert/strict';
import test from 'node:test';
import { detect } from './detect.ts';

const found = (method: string, target: string, headers = {}) => {
  const result = detect(method, target, headers);
  if ('refuse' in result) return result.refuse;
  const { shape, operation, endpoint, modelInPath, streamInPath } = result;
  return [shape, operation, endpoint, ...(modelInPath ? [modelInPath] : []), ...(streamInPath ? ['stream'] : [])].join(' ');
};

test('each path of an SDK leads to its shape and operation', () => {
  const cases: Record<string, string> = {
    'POST /v1/chat/completions': 'openai-chat chat /chat/completions',
    'POST /chat/completions': 'openai-chat chat /chat/completions',
    'POST /openai/v1/chat/completions': 'openai-chat chat /chat/completions',
    'POST /v1beta/openai/chat/completions': 'openai-chat chat /chat/completions',
    'POST /openai/deployments/my-gpt/chat/completions?api-version=2026-01-01': 'openai-chat chat /chat/completions my-gpt',
    'POST /v1/responses': 'openai-responses responses /responses',
    'GET /v1/responses/resp_1': 'openai-responses responses /responses/resp_1',
    'POST /v1/responses/resp_1/cancel': 'openai-responses responses /responses/resp_1/cancel',
    'POST /v1/embeddings': 'openai-embeddings embeddings /embeddings',
    'POST /v1/messages': 'anthropic messages /messages',
    'POST /v1/v1/messages': 'anthropic messages /messages',
    'POST /v1/messages/count_tokens?beta=true': 'anthropic count_tokens /messages/count_tokens',
    'POST /v1beta/models/gemini-2.5-pro:generateContent': 'gemini generate :generateContent gemini-2.5-pro',
    'POST /v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse': 'gemini generate :streamGenerateContent gemini-2.5-pro stream',
    'POST /v1/projects/p-1/locations/us-east1/publishers/google/models/g:countTokens': 'gemini count_tokens :countTokens g',
    'POST /model/anthropic.claude%3A0/converse-stream': 'bedrock-converse generate /converse-stream anthropic.claude:0 stream',
    'POST /model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fx/invoke':
      'bedrock-invoke generate /invoke arn:aws:bedrock:us-east-1:1:inference-profile/x',
    'POST /v2/rerank': 'cohere rerank /v2/rerank',
    'POST /api/generate': 'ollama chat /api/generate',
    'GET /v1/models': 'models models /models',
    'GET /models/openai%2Fgpt-oss': 'models models /models openai/gpt-oss',
    'GET /v1beta/models/gemini-x': 'models models /models gemini-x',
    'GET /v1/files/file_1/content': 'openai-stored other /files/file_1/content',
  };
  for (const [request, expected] of Object.entries(cases))
    assert.equal(found(...(request.split(' ') as [string, string])), expected, request);
});

test('a path that two readers could understand differently is invalid', () => {
  const hostile = [
    'v1/messages',
    '//evil.example/v1/messages',
    '/http://evil.example/',
    '/v1/../admin',
    '/v1/%2e%2e/messages',
    '/v1%2fmessages',
    '/v1/%252e/messages',
    '/v1/a%00',
    '/v1\\messages',
    '/v1/user@host/messages',
    '/model/a%2F..%2Fb/converse',
    '/model/%2Fa/converse',
    '/v1/%ff/messages',
    '/',
  ];
  for (const path of hostile) assert.equal(found('POST', path), 'invalid_path', path);
});

test('paths and methods that no adapter knows are refused', () => {
  for (const [method, path] of [
    ['PUT', '/v1/messages'],
    ['GET', '/v1/chat/completions'],
    ['GET', '/v1/files'],
    ['POST', '/v1/files'],
    ['POST', '/v1/batches'],
    ['DELETE', '/v1/models/x'],
    ['POST', '/v1beta/tunedModels/x:generateContent'],
    ['POST', '/v1beta/models/x:constructor'],
    ['POST', '/model/x/constructor'],
  ] as const)
    assert.equal(found(method, path), 'unsupported_operation', `${method} ${path}`);
});

test('credentials in the query are taken out and the rest is kept', () => {
  const result = detect('POST', '/v1beta/models/g:generateContent?key=svcp_x&alt=sse&Access_Token=1&$fields=a', {});
  assert.ok('query' in result);
  assert.equal(result.query.toString(), 'alt=sse&%24fields=a');
});
