import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';
import { importsOf } from '#scripts/imports.ts';

/** Every package that comes with a file before anything is asked for, with the file that brings it; what is imported on demand is left out. */
function broughtBy(start: string): Map<string, string> {
  const seen = new Set<string>();
  const packages = new Map<string, string>();
  const visit = (file: string) => {
    if (seen.has(file)) return;
    seen.add(file);
    const atOnce = fs.readFileSync(file, 'utf8').replaceAll('import(', 'later(');
    for (const { target, own, type } of importsOf(file, atOnce)) {
      if (type) continue;
      if (own) visit(target);
      else packages.set(target, file);
    }
  };
  visit(start);
  return packages;
}

test('the frame, the lists and the first forms bring no validator, no popups and no notices to a page: those come when they are asked for (70 §1)', () => {
  const starts = [
    'shell/frame.tsx',
    'trpc/provider.tsx',
    'routes/route-list.tsx',
    'routes/route-detail.tsx',
    'logs/log-view.tsx',
    'home/home.tsx',
    'auth/sign-in-form.tsx',
    'me/profile-view.tsx',
  ];
  for (const start of starts) {
    const packages = broughtBy(`components/${start}`);
    assert.ok(packages.has('react'), `${start} was read`);
    const heavy = [...packages].filter(([name]) => /^(zod|sonner|@base-ui\/.*|@hookform\/.*)$/.test(name));
    assert.deepEqual(heavy, [], `in ${start}`);
    const hasForm = /^(auth|me)\//.test(start);
    assert.equal(packages.has('react-hook-form'), hasForm, `forms in ${start}`);
  }
});
