import assert from 'node:assert/strict';
import test from 'node:test';
import { isEchoUrl } from '#server/kernel/echo-origin.ts';

test('only the exact echo origin passes without the guard', () => {
  for (const url of ['http://echo.sallyport.internal', 'http://echo.sallyport.internal/', 'http://echo.sallyport.internal/a/b'])
    assert.ok(isEchoUrl(url), url);
  for (const url of [
    'https://echo.sallyport.internal',
    'http://echo.sallyport.internal:81',
    'http://echo.sallyport.internal.evil.example',
    'http://echo.sallyport.internal@evil.example',
    'http://echo.sallyport.internal/?x=1',
    'http://echo.sallyport.internal/#x',
    'http://echo.sallyport.internal/{{var:x}}',
    'http://x.echo.sallyport.internal/',
    'HTTP://ECHO.SALLYPORT.INTERNAL',
  ])
    assert.ok(!isEchoUrl(url), url);
});
