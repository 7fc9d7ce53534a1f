import assert from 'node:assert/strict';
import test from 'node:test';
import { sanitizedConsentHtml as clean } from './consent-html.shared.ts';

const link = (href: string, text: string) => `<a href="${href}" target="_blank" rel="noopener noreferrer nofollow">${text}</a>`;

test('what is allowed stays as it is', () => {
  const html = '<p>We <strong>only</strong> <em>read</em>.<br></p><ul><li>One</li></ul><ol><li>Two &amp; three</li></ol>';
  assert.equal(clean(html), html);
  assert.equal(clean('<P CLASS="x" onclick="a()">Hi</P>'), '<p>Hi</p>');
  assert.equal(
    clean('<a href="https://example.com/terms?a=1&amp;b=2" style="x">Terms</a>'),
    link('https://example.com/terms?a=1&amp;b=2', 'Terms'),
  );
});

test('nothing else reaches a browser as markup', () => {
  const cases: [string, string][] = [
    ['<script>alert(1)</script>ok', 'ok'],
    ['<scr<script>ipt>alert(1)</script>', 'ipt&gt;alert(1)'],
    ['<img src=x onerror=alert(1)>ok', 'ok'],
    ['<svg><a href="https://x.test">y</a></svg>ok', 'ok'],
    ['<style>p{display:none}</style>ok', 'ok'],
    ['<!-- <b> --><?php ?><!doctype html>ok', 'ok'],
    ['<a href="javascript:alert(1)">x</a>', 'x'],
    ['<a href=" java\nscript:alert(1)">x</a>', 'x'],
    ['<a href="&#106;avascript:alert(1)">x</a>', 'x'],
    ['<a href="http://x.test">x</a>', 'x'],
    ['<a href="//x.test">x</a>', 'x'],
    ['<a href="https://user:pass@x.test">x</a>', 'x'],
    ['<a href="https://x.test/&quot;onmouseover=alert(1)">x</a>', link('https://x.test/&quot;onmouseover=alert(1)', 'x')],
    ['<a data-href="https://x.test">x</a>', 'x'],
    ['1 < 2 > 0 & "so"', '1 &lt; 2 &gt; 0 &amp; &quot;so&quot;'],
    ['<p title=">">x', '<p>x</p>'],
    ['<p title="', '<p></p>'],
    ['</p></div>ok', 'ok'],
    ['<form action="https://evil.test"><input name=password><button>Allow</button></form>', 'Allow'],
    ['<iframe src="https://evil.test"></iframe>ok', 'ok'],
    ['<meta http-equiv=refresh content="0;url=https://evil.test">ok', 'ok'],
    ['<strong><em>x</strong>y', '<strong><em>x</em></strong>y'],
    [`<a href="https://a.test/">x<a href="https://b.test/">y`, link('https://a.test/', 'x') + link('https://b.test/', 'y')],
  ];
  for (const [given, expected] of cases) assert.equal(clean(given), expected, given);
});

test('any text at all comes out as the few known tags and escaped characters', () => {
  const pieces = [
    '<',
    '>',
    '/',
    '"',
    "'",
    '=',
    ' ',
    '&',
    '!--',
    '-->',
    'p',
    'a href',
    'script',
    '</',
    'https://x.test',
    'onload',
    '\u0000',
    '`',
    'svg',
    'li',
  ];
  let seed = 7;
  const next = () => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648);
  for (let run = 0; run < 5_000; run++) {
    const text = Array.from({ length: 1 + (next() % 14) }, () => pieces[next() % pieces.length]).join('');
    const rest = clean(text).replace(
      /<\/?(?:p|ul|ol|li|strong|em|a)>|<br>|<a href="https:\/\/[^"<>]*" target="_blank" rel="noopener noreferrer nofollow">/g,
      '',
    );
    assert.doesNotMatch(rest, /[<>]/, text);
  }
});
