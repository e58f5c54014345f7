import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { compileFunction } from 'node:vm';
import { checkDefinition } from './check';
import type { OwnDefinition } from './definition';

export interface LoadedProjections {
  readonly definitions: readonly OwnDefinition[];
  /** A sentence for each file that is left out. */
  readonly faults: readonly string[];
}

const isSource = (name: string): boolean => /\.(ts|mts|cts|js|mjs|cjs)$/.test(name) && !/\.d\.[mc]?ts$/.test(name);

/** The operator's projections: one file each, in a folder that need not be there. A file that is no projection is left out. */
export function loadProjections(folder: string, taken: readonly string[] = []): LoadedProjections {
  const definitions: OwnDefinition[] = [];
  const faults: string[] = [];
  for (const file of existsSync(folder) ? readdirSync(folder).filter(isSource).sort() : []) {
    try {
      const definition = checkDefinition(exportOf(join(folder, file)));
      if ([...taken, ...definitions.map(({ name }) => name)].includes(definition.name))
        throw new Error(`another projection has the name ${definition.name}`);
      definitions.push(definition);
    } catch (error) {
      faults.push(`The projection ${join(folder, file)} is left out: ${(error as Error).message.replace(/\.$/, '')}.`);
    }
  }
  return { definitions, faults };
}

/** Its default export, or what `module.exports` holds. Types are taken off and imports turned to CommonJS, whatever kind of file it is. */
function exportOf(path: string): unknown {
  // Loaded where there is such a file, and not at every start: it takes a third of a second.
  const { transpileModule, ModuleKind, ScriptTarget } = createRequire(__filename)(
    'typescript',
  ) as typeof import('typescript');
  const { outputText, diagnostics } = transpileModule(readFileSync(path, 'utf8'), {
    // As TypeScript, whatever it is: other endings would keep their own kind of module.
    fileName: path.replace(/\.[mc]?[jt]s$/, '.ts'),
    reportDiagnostics: true,
    compilerOptions: { module: ModuleKind.CommonJS, target: ScriptTarget.ES2022, esModuleInterop: true, allowJs: true },
  });
  const [fault] = diagnostics ?? [];
  if (fault) {
    const line =
      fault.file && fault.start !== undefined ? fault.file.getLineAndCharacterOfPosition(fault.start).line + 1 : '?';
    throw new Error(
      `line ${line}: ${typeof fault.messageText === 'string' ? fault.messageText : fault.messageText.messageText}`,
    );
  }
  const module: { exports: unknown } = { exports: {} };
  const run = compileFunction(outputText, ['exports', 'require', 'module', '__filename', '__dirname'], {
    filename: path,
  });
  (run as (...values: unknown[]) => void)(module.exports, createRequire(path), module, path, dirname(path));
  const exported = module.exports as { readonly default?: unknown };
  return exported.default ?? exported;
}
