import { testFamily } from '#server/testing/suites.ts';
import { notifications } from './family.ts';

await testFamily(notifications);
