import assert from 'node:assert/strict';
import test from 'node:test';
import { parseExact } from '#server/kernel/lossless-json.ts';
import { definitionDiff } from './definition-diff.ts';
import { documentOf, fragmentOf, stepOf, withConfig, withFragment, withSample } from './document.ts';
import { suggestionsFor } from './suggestions.ts';

const BODY = '{"id":7615917337495251231,"price":1299.10,"huge":1e400,"text":"{{trigger.data}}"}';
const definition = parseExact(`{"nodes":[
  {"id":"trigger-node","type":"trigger","data":{"config":{"triggerType":"manual"}}},
  {"id":"a","type":"http_request","data":{"config":{"method":"POST","url":"https://example.com/","body":${BODY}}}}],
  "edges":[{"source":"trigger-node","target":"a"}]}`);
const bodyOf = (doc: ReturnType<typeof documentOf>, id: string) => JSON.stringify(stepOf(doc, id)?.data?.config?.body);

test('the editor saves the digits of numbers that it opened, edited, copied or kept as a sample', () => {
  const doc = withSample(withConfig(documentOf(definition), 'a', { timeoutMs: 5_000 }), 'a', parseExact(BODY));
  assert.equal(bodyOf(doc, 'a'), BODY);
  assert.match(JSON.stringify(doc), /"sample":\{"id":7615917337495251231,"price":1299\.10,"huge":1e400,/);
  const { doc: pasted, ids } = withFragment(doc, fragmentOf(doc, ['a']));
  assert.equal(bodyOf(pasted, ids[0] as string), BODY);
  const other = withConfig(doc, 'a', { body: parseExact(BODY.replace('1231', '1232')) });
  assert.deepEqual(
    definitionDiff(doc, other).steps.flatMap(({ fields }) => fields.map(({ path, after }) => `${path} ${after}`)),
    ['body.id 7615917337495251232'],
  );
  const previews = new Map(
    suggestionsFor(withFragment(doc, { nodes: [], edges: [] }).doc, 'a', new Map([['trigger-node', parseExact(BODY)]])).map((one) => [
      one.path,
      one.preview,
    ]),
  );
  assert.equal(previews.get('trigger.id'), '7615917337495251231');
});
