// Owns the set of file tools as one room hands it to the program.
// Knows nothing of how each works.
import type { AnyTool } from '#core/agent/tool.ts';
import { createSearchFilesTool } from '../search/search-files-tool.ts';
import type { FileToolsOptions } from './file-access.ts';
import { createPatchTool } from './patch-tool.ts';
import { createReadFileTool } from './read-file-tool.ts';
import { createWriteFileTool } from './write-file-tool.ts';

/** read_file, write_file, patch, search_files. */
export function createFileTools(options: FileToolsOptions = {}): readonly AnyTool[] {
  return [
    createReadFileTool(options),
    createWriteFileTool(options),
    createPatchTool(options),
    createSearchFilesTool(options),
  ];
}
