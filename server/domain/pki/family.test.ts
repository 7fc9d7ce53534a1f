import { testFamily } from '#server/testing/suites.ts';
import { pki } from './family.ts';

await testFamily(pki);
