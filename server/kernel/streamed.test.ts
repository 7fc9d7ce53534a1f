import assert from 'node:assert/strict';
import test from 'node:test';
import { csvLine } from './streamed.ts';

test('no cell of an export is a formula to a spreadsheet, and every cell stays one cell', () => {
  for (const start of ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']) {
    const line = csvLine([`${start}HYPERLINK("http://x")`, 'b']);
    assert.match(line, /^"?'/, JSON.stringify(start));
    assert.ok(line.endsWith(',b\r\n'));
  }
  assert.equal(csvLine(['a,b', 'say "hi"', 'two\nlines', -5, null, true, 'x=1']), '"a,b","say ""hi""","two\nlines",-5,,true,x=1\r\n');
});
