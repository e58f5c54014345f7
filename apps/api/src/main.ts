import { run } from '@palimpsest/installation';
import { apiProcess } from './api-process';

run(() => apiProcess());
