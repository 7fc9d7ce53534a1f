import assert from 'node:assert/strict';
import test from 'node:test';
import { type Detected, detect } from '../shapes/detect.ts';
import { PROVIDERS, providerOf } from './catalogue.ts';
import { bedrockRegion, regionOf, vertexLocation } from './region.ts';
import { credentialFor, upstreamTarget, wayTo } from './serve.ts';

function went(provider: string | null, target: string, model: string, base = '', stream = false): string {
  const detected = detect('POST', target, {}) as Detected;
  const way = wayTo(provider, detected, model);
  if ('refuse' in way) return way.refuse;
  const vertex = { project: 'p', location: 'us-east1' };
  return `${way.kind} ${way.shape} ${upstreamTarget({ provider, way, detected, model, stream, base, vertex })}`;
}

test('each provider is reached by its own shape, its OpenAI-compatible door, or a translation', () => {
  const chat = '/v1/chat/completions';
  const messages = '/v1/messages?beta=true';
  const cases: [string, string][] = [
    [went('openai', chat, 'm'), 'native openai-chat /v1/chat/completions'],
    [went('groq', chat, 'm', '/openai'), 'native openai-chat /openai/v1/chat/completions'],
    [went('openai-compatible', '/chat/completions', 'm', '/api/v1'), 'native openai-chat /api/v1/chat/completions'],
    [went(null, '/v2/chat', 'm'), 'native cohere /v2/chat'],
    [went('gemini', chat, 'm'), 'door openai-chat /v1beta/openai/chat/completions'],
    [went('gemini', '/v1/embeddings', 'm'), 'door openai-embeddings /v1beta/openai/embeddings'],
    [
      went('gemini', '/v1beta/models/x:streamGenerateContent', 'gemini-y', '', true),
      'native gemini /v1beta/models/gemini-y:streamGenerateContent?alt=sse',
    ],
    [went('vertex', chat, 'gemini-y'), 'door openai-chat /v1/projects/p/locations/us-east1/endpoints/openapi/chat/completions'],
    [
      went('vertex', messages, 'claude-x@1', '', true),
      'native anthropic /v1/projects/p/locations/us-east1/publishers/anthropic/models/claude-x%401:streamRawPredict?beta=true',
    ],
    [
      went('vertex', chat, 'claude-x'),
      'translate anthropic /v1/projects/p/locations/us-east1/publishers/anthropic/models/claude-x:rawPredict',
    ],
    [
      went('vertex', '/v1beta/models/x:generateContent', 'g'),
      'native gemini /v1/projects/p/locations/us-east1/publishers/google/models/g:generateContent',
    ],
    [went('cohere', chat, 'm'), 'door openai-chat /compatibility/v1/chat/completions'],
    [went('ollama', chat, 'm'), 'door openai-chat /v1/chat/completions'],
    [went('azure-openai', chat, 'dep'), 'native openai-chat /openai/v1/chat/completions'],
    [
      went('azure-openai', `${chat}?api-version=2024-10-21`, 'dep'),
      'native openai-chat /openai/deployments/dep/chat/completions?api-version=2024-10-21',
    ],
    [went('azure-openai', `${chat}?api-version=2024-10-21`, 'dep', '/openai/v1'), 'native openai-chat /openai/v1/chat/completions'],
    [went('anthropic', messages, 'm'), 'native anthropic /v1/messages?beta=true'],
    [went('anthropic', chat, 'm'), 'translate anthropic /v1/messages'],
    [went('deepseek', messages, 'm'), 'native anthropic /anthropic/v1/messages?beta=true'],
    [went('openai', messages, 'm'), 'translate openai-chat /v1/chat/completions'],
    [went('gemini', messages, 'm'), 'translate openai-chat /v1beta/openai/chat/completions'],
    [went('bedrock', chat, 'a:0', '', true), 'translate bedrock-converse /model/a%3A0/converse-stream'],
    [went('bedrock', '/model/a%3A0/invoke', 'arn:x/y'), 'native bedrock-invoke /model/arn%3Ax%2Fy/invoke'],
    [went('anthropic', '/v1/responses', 'm'), 'translate anthropic /v1/messages'],
    [went('mistral', '/v1/responses', 'm'), 'translate openai-chat /v1/chat/completions'],
    [went('bedrock', '/v1/responses', 'a:0'), 'translate bedrock-converse /model/a%3A0/converse'],
    [went('anthropic', '/v1/responses/resp_1/cancel', 'm'), 'shape_not_supported'],
    [went('openai', '/v1beta/models/x:generateContent', 'm'), 'shape_not_supported'],
    [went('mistral', '/v1/images/generations', 'm'), 'shape_not_supported'],
  ];
  for (const [found, expected] of cases) assert.equal(found, expected);
});

test('a base URL may end as the provider’s documentation writes it', () => {
  const chat = '/v1/chat/completions';
  const messages = '/v1/messages';
  const cases: [string, string][] = [
    [went('openai', chat, 'm', '/corp/openai/v1/'), 'native openai-chat /corp/openai/v1/chat/completions'],
    [went('anthropic', messages, 'm', '/corp/v1'), 'native anthropic /corp/v1/messages'],
    [went('ollama', chat, 'm', '/v1'), 'door openai-chat /v1/chat/completions'],
    [went('ollama', '/api/chat', 'm', '/v1'), 'native ollama /api/chat'],
    [went('ollama', '/api/chat', 'm', '/llm/api'), 'native ollama /llm/api/chat'],
    [went('cohere', '/v2/chat', 'm', '/v2'), 'native cohere /v2/chat'],
    [went('cohere', chat, 'm', '/compatibility/v1'), 'door openai-chat /compatibility/v1/chat/completions'],
    [went('deepseek', messages, 'm', '/v1'), 'native anthropic /anthropic/v1/messages'],
    [went('deepseek', chat, 'm', '/anthropic'), 'native openai-chat /v1/chat/completions'],
    [went('gemini', chat, 'm', '/v1beta/openai'), 'door openai-chat /v1beta/openai/chat/completions'],
    [went('gemini', '/v1beta/models/x:generateContent', 'g', '/v1beta/openai'), 'native gemini /v1beta/models/g:generateContent'],
    [went('gemini', '/v1beta/models/x:generateContent', 'g', '/v1alpha'), 'native gemini /v1alpha/models/g:generateContent'],
    [
      went('vertex', '/v1beta/models/x:generateContent', 'g', '/v1'),
      'native gemini /v1/projects/p/locations/us-east1/publishers/google/models/g:generateContent',
    ],
  ];
  for (const [found, expected] of cases) assert.equal(found, expected);
});

test('regions are read from private endpoints of a cloud too', () => {
  assert.equal(bedrockRegion('vpce-0abc-1.bedrock-runtime.eu-west-1.vpce.amazonaws.com'), 'eu-west-1');
  assert.equal(bedrockRegion('bedrock-runtime.us-east-1.amazonaws.com'), 'us-east-1');
  assert.equal(bedrockRegion('bedrock-runtime.us-east-1.amazonaws.com.example.com'), undefined);
  assert.equal(vertexLocation('europe-west4-aiplatform.googleapis.com'), 'europe-west4');
  assert.equal(vertexLocation('us-central1-aiplatform-corp.p.googleapis.com'), 'us-central1');
  assert.equal(vertexLocation('aiplatform.eu.rep.googleapis.com'), 'eu');
  assert.equal(vertexLocation('aiplatform.googleapis.com'), 'global');
  assert.equal(regionOf('vpce-0abc-1.bedrock-runtime.eu-west-1.vpce.amazonaws.com'), 'eu');
});

test('fifteen providers are offered, and the key of Gemini goes to its door as a bearer token', () => {
  assert.equal(PROVIDERS.length, 15);
  const gemini = providerOf('gemini');
  assert.ok(gemini);
  assert.deepEqual(credentialFor(gemini, 'gemini'), { kind: 'header', name: 'x-goog-api-key', prefix: '' });
  assert.deepEqual(credentialFor(gemini, 'openai-chat'), { kind: 'header', name: 'Authorization', prefix: 'Bearer ' });
  assert.equal(providerOf('constructor'), undefined);
});

test('tokens are counted by a provider that speaks the shape, and estimated for one that is translated to', () => {
  const way = (provider: string, path: string) => wayTo(provider, detect('POST', path, {}) as Detected, 'm');
  assert.deepEqual(way('openai', '/v1/messages/count_tokens'), { kind: 'estimate', shape: 'anthropic' });
  assert.deepEqual(way('anthropic', '/v1/responses/input_tokens'), { kind: 'estimate', shape: 'openai-responses' });
  assert.deepEqual(way('anthropic', '/v1/messages/count_tokens'), { kind: 'native', shape: 'anthropic' });
  assert.deepEqual(way('openai', '/v1/responses/input_tokens'), { kind: 'native', shape: 'openai-responses' });
});
