import test from 'node:test';
import type { Family } from '#server/kernel/family.ts';
import { testDatabase } from './database.ts';
import { audit } from './suites/audit.ts';
import { destinations } from './suites/destinations.ts';
import { edits } from './suites/edits.ts';
import { exactJson } from './suites/exact-json.ts';
import { exactNumbers } from './suites/exact-numbers.ts';
import { grants } from './suites/grants.ts';
import { idempotency } from './suites/idempotency.ts';
import { isolation } from './suites/isolation.ts';
import { largest } from './suites/largest.ts';
import { loosening } from './suites/loosening.ts';
import { naughtyText } from './suites/naughty-text.ts';
import { paging } from './suites/paging.ts';
import { permissions } from './suites/permissions.ts';
import { personal } from './suites/person.ts';
import { sameOverTrpc } from './suites/procedures.ts';
import { requests } from './suites/requests.ts';
import { resources } from './suites/resources.ts';
import { responses } from './suites/responses.ts';
import { reveals } from './suites/reveals.ts';
import { secretMarks } from './suites/secret-marks.ts';
import { stepUp } from './suites/step-up.ts';
import { subjectOf } from './suites/subject.ts';
import { templates } from './suites/templates.ts';
import { unknownIds } from './suites/unknown-ids.ts';

/**
 * Every promise that holds for all operations, tested for those of one family: its `family.test.ts` calls this and nothing else. The suites read the
 * descriptor and `samples.fixture.ts`, so that an operation is covered the day it is declared.
 */
export async function testFamily(family: Family): Promise<void> {
  await testDatabase();
  const subject = await subjectOf(family);
  test(`${subject.name}: every operation has a sample`, () => {
    for (const { id } of subject.operations)
      if (!subject.fixture.samples[id]) throw new Error(`${id} has no sample: add one to server/domain/${subject.name}/samples.fixture.ts`);
  });
  for (const suite of [
    permissions,
    resources,
    isolation,
    unknownIds,
    audit,
    edits,
    secretMarks,
    destinations,
    templates,
    sameOverTrpc,
    responses,
    requests,
    idempotency,
    paging,
    naughtyText,
    exactJson,
    exactNumbers,
    largest,
    personal,
    stepUp,
    grants,
    loosening,
    reveals,
  ])
    suite(subject);
}
