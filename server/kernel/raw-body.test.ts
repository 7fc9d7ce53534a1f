import assert from 'node:assert/strict';
import test from 'node:test';
import { csvLine } from './raw-body.ts';

test('no cell of an export is a formula to a spreadsheet, and every cell stays one cell', () => {
  for (const start of ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']) {
    const line = csvLine([`${start}HYPERLINK("http://x")`, 'b']);
    assert.match(line, /^"?'/, JSON.stringify(start));
    assert.ok(line.endsWith(',b\r\n'));
  }
  assert.equal(csvLine(['a,b', 'say "hi"', 'two\nlines', -5, null, true, 'x=1']), '"a,b","say ""hi""","two\nlines",-5,,true,x=1\r\n');
});

test('no text starts a formula behind a semicolon either, at which spreadsheets of half of Europe part their cells', () => {
  assert.equal(csvLine(["/x;=cmd|'/C calc'!A0;y"]), "/x;'=cmd|'/C calc'!A0;y\r\n");
  assert.equal(csvLine(['a;+1;-2;@x\t=3']), "a;'+1;'-2;'@x\t'=3\r\n");
  assert.equal(csvLine(['a\n=1']), '"a\n\'=1"\r\n');
  assert.equal(csvLine(['Mozilla/5.0 (compatible; bot; +https://example.com)']), 'Mozilla/5.0 (compatible; bot; +https://example.com)\r\n');
});
