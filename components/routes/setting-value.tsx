'use client';

import { useReadable } from './secret-picker.tsx';
import { inWords } from './setting-labels.ts';

/** A value in a cell, with secrets by name. */
export const SettingValue = ({ value }: { value: unknown }) => useReadable(inWords(value)).shown;
