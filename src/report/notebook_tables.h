// The tables of the notebook as HTML. Every text from outside is escaped here.
#pragma once

#include <string>

#include "report/notebook.h"

namespace stoker::report {

// Text for the page: printable, escaped.
std::string Html(const std::string& text);

std::string FactsHtml(const NotebookJob& job);        // command, folder, user, git, times, end
std::string UseHtml(const NotebookJob& job);          // the cards, one a row, and their total
std::string CheckpointsHtml(const NotebookJob& job);  // each with where its copies are
std::string FindingsHtml(const NotebookJob& job);  // numbered sentences with what they cannot tell

}  // namespace stoker::report
